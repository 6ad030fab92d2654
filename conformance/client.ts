/**
 * The client that the official harness tests: it plays the scenario that `MCP_CONFORMANCE_SCENARIO` names against the server whose
 * URL is its last argument, with the public API alone, and exits with 0 when that went well.
 */
import { type Client, connect } from "conduit-mcp/client"
import { scenarios } from "./everything/scenarios.js"

const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_PROTOCOL_VERSION: version = "2025-11-25" } =
  process.env
const context: unknown = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}")
const url = process.argv.at(-1) ?? ""

const play = scenarios[scenario] ?? playAny
const client = await connect(url, {
  // A revision that is only ever answered, such as the oldest ones, is met by offering the newest of its era.
  protocol: version === "2026-07-28" || version === "2025-06-18" ? version : "legacy",
  handlers: {
    elicit: (question) =>
      question.mode === "form" ? { action: "accept", content: answerTo(question.schema) } : { action: "decline" },
    sample: () => ({ role: "assistant", content: { type: "text", text: "an answer" }, model: "a model" }),
    roots: () => [{ uri: "file:///tmp", name: "a folder" }],
  },
})
try {
  await play(client, context)
} finally {
  await client.close()
}

/** Any other scenario: lists the tools and calls the first one that takes nothing. */
async function playAny(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  const simple = tools.find(({ inputSchema }) => !Array.isArray(inputSchema["required"]))
  if (simple !== undefined) await client.callTool(simple.name)
}

/** The answer to a form: whatever has no default is agreed to. */
function answerTo(schema: { readonly [key: string]: unknown }): { [name: string]: boolean } {
  const properties = Object.entries(
    (schema["properties"] ?? {}) as { readonly [name: string]: { readonly type?: string } },
  )
  return Object.fromEntries(
    properties
      .filter(([, { type }]) => type === "boolean")
      .flatMap(([name, field]) => ("default" in field ? [] : [[name, true]])),
  )
}
