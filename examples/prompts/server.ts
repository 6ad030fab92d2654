/** Prompts: messages for a model that a user chooses, with arguments that complete while they are typed. */
import { assistant, content, createServer, prompt, user } from "conduit-mcp"
import { z } from "zod"

/** A string is one message of the user. */
const haiku = prompt("haiku", { description: "A haiku, please" }, () => "Write a haiku about the sea.")

const frameworks: Readonly<Record<string, readonly string[]>> = {
  python: ["django", "flask"],
  typescript: ["express", "fastify", "hono"],
}

/** Several messages, with a resource embedded. Values are strings on the wire; the schema may turn them into anything. */
const review = prompt(
  "review",
  {
    title: "Review code",
    args: z.object({
      code: z.string().describe("What to review"),
      language: z.string(),
      framework: z.string().optional(),
      strictness: z.coerce.number().int().min(1).max(5).default(3),
    }),
    complete: {
      language: (typed) => Object.keys(frameworks).filter((language) => language.startsWith(typed)),
      framework: async (typed, ctx) => {
        const known = frameworks[ctx.arguments["language"] ?? ""] ?? []
        return known.filter((framework) => framework.startsWith(typed))
      },
    },
  },
  ({ code, language, framework, strictness }) => [
    user(content.embed({ uri: "code:///review", mimeType: "text/plain", text: code })),
    assistant(`I see ${language}${framework === undefined ? "" : ` with ${framework}`}. How strict shall I be?`),
    user(`${strictness} of 5.`),
  ],
)

export const server = createServer({ name: "prompts", version: "1.0.0", prompts: [haiku, review] })
