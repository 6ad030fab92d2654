/** The prompts that the official harness asks for. */
import { content, prompt, user } from "conduit-mcp"
import { z } from "zod"
import { inputPrompt } from "./input.js"
import { pngBase64 } from "./media.js"

const simple = prompt("test_simple_prompt", { description: "One message" }, () => "A simple prompt.")

const withArguments = prompt(
  "test_prompt_with_arguments",
  {
    description: "Repeats its arguments",
    args: z.object({ arg1: z.string().meta({ description: "The first" }), arg2: z.string() }),
    complete: { arg1: (typed) => ["one", "two", "three"].filter((value) => value.startsWith(typed)) },
  },
  ({ arg1, arg2 }) => `The arguments are "${arg1}" and "${arg2}".`,
)

const withResource = prompt(
  "test_prompt_with_embedded_resource",
  { description: "Embeds the resource that it is given", args: z.object({ resourceUri: z.string() }) },
  ({ resourceUri }) => [
    user(content.embed({ uri: resourceUri, mimeType: "text/plain", text: "The text of the embedded resource." })),
    user("What does the resource say?"),
  ],
)

const withImage = prompt("test_prompt_with_image", { description: "Shows an image" }, () => [
  user(content.image(pngBase64, "image/png")),
  user("What is on the image?"),
])

/** All of them, in the order in which they are listed. */
export const prompts = [simple, withArguments, withResource, withImage, inputPrompt]
