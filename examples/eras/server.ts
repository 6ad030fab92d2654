/** Both eras: one definition, served to every client in the revision that it speaks. A handler may look, but need not. */
import { createServer, tool } from "conduit-mcp"
import { z } from "zod"

const introduce = tool(
  "introduce",
  { output: z.object({ era: z.string(), revision: z.string(), client: z.string(), canBeAsked: z.boolean() }) },
  (_, ctx) => ({
    era: ctx.era,
    revision: ctx.revision,
    client: String(ctx.client.info?.["name"] ?? "somebody"),
    canBeAsked: ctx.client.can("elicitation.form"),
  }),
)

/** What an older revision does not know is left out of its lists: icons came with 2025-11-25. */
const painted = tool("painted", { icons: [{ src: "https://example.com/brush.png", sizes: ["48x48"] }] }, () => "green")

export const server = createServer({
  name: "eras",
  version: "1.0.0",
  description: "Knows which era its caller lives in",
  tools: [introduce, painted],
})
