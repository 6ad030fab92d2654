/** The tools that the official harness calls, by the names that it knows them under. */
import { setTimeout } from "node:timers/promises"
import { content, fail, tool } from "conduit-mcp"
import { jsonSchema } from "conduit-mcp/schema"
import { z } from "zod"
import { inputTools } from "./input.js"
import { pngBase64, wavBase64 } from "./media.js"

/** Between two steps of a tool that reports as it goes: long enough for a client to see them one by one. */
const STEP_MS = 50

const simpleText = tool("test_simple_text", { description: "Answers with a text" }, () => "A simple text.")

const image = tool("test_image_content", { description: "Answers with an image" }, () =>
  content.image(pngBase64, "image/png"),
)

const audio = tool("test_audio_content", { description: "Answers with a sound" }, () =>
  content.audio(wavBase64, "audio/wav"),
)

const embeddedResource = tool("test_embedded_resource", { description: "Answers with an embedded resource" }, () =>
  content.embed({ uri: "test://embedded-resource", mimeType: "text/plain", text: "The text of an embedded resource." }),
)

const mixedContent = tool(
  "test_multiple_content_types",
  { description: "Answers with a text, an image and an embedded resource" },
  () => [
    content.text("A text, an image and a resource:"),
    content.image(pngBase64, "image/png"),
    content.embed({ uri: "test://mixed-content", mimeType: "application/json", text: '{"mixed":true}' }),
  ],
)

const errorHandling = tool("test_error_handling", { description: "Fails on purpose" }, () =>
  fail("This tool fails on purpose."),
)

const withLogging = tool(
  "test_tool_with_logging",
  { description: "Logs at the level info while it works" },
  async (_, ctx) => {
    ctx.log.info("Tool execution started")
    await setTimeout(STEP_MS)
    ctx.log.info("Tool processing data")
    await setTimeout(STEP_MS)
    ctx.log.info("Tool execution completed")
    return "Logged three messages."
  },
)

const withProgress = tool(
  "test_tool_with_progress",
  { description: "Reports progress while it works" },
  async (_, ctx) => {
    ctx.progress(0, 100, "started")
    await setTimeout(STEP_MS)
    ctx.progress(50, 100, "half done")
    await setTimeout(STEP_MS)
    ctx.progress(100, 100, "done")
    return "Reported progress three times."
  },
)

const logging = tool("test_logging_tool", { description: "Logs at every level" }, (_, ctx) => {
  ctx.log.debug("a detail")
  ctx.log.info("a fact")
  ctx.log.notice("a fact worth knowing")
  ctx.log.warning("a risk")
  ctx.log.error("a failure")
  return "Logged at every level."
})

interface Contact {
  readonly name?: string
  readonly address?: { readonly street?: string; readonly city?: string }
  readonly contactMethod?: "phone" | "email"
  readonly phone?: string
  readonly email?: string
}

const contactSchema = jsonSchema<Contact>({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
})

const rawSchema = tool(
  "json_schema_2020_12_tool",
  { description: "Takes arguments that a raw JSON Schema describes", input: contactSchema },
  (contact) => contact,
)

const mirroredArgument = tool(
  "test_x_mcp_header",
  {
    description: "Takes an argument that an HTTP header repeats",
    input: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
  },
  ({ region }) => `The region is ${region}.`,
)

/** The harness calls the first of them without arguments, and the first one with an argument that a header repeats. */
export const tools = [
  simpleText,
  image,
  audio,
  embeddedResource,
  mixedContent,
  errorHandling,
  withLogging,
  withProgress,
  logging,
  ...inputTools,
  rawSchema,
  mirroredArgument,
]
