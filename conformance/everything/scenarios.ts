/** What the client does in those scenarios of the official harness in which listing tools and calling one is not enough. */

import type { JsonObject } from "conduit-mcp"
import type { Client } from "conduit-mcp/client"

/** Plays one scenario. `context` is what the harness hands over. */
export type Scenario = (client: Client, context: unknown) => Promise<void>

const callAll =
  (...names: readonly string[]): Scenario =>
  async (client) => {
    await client.listTools()
    for (const name of names) await client.callTool(name)
  }

/** The scenarios by name. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: async (client) => void (await client.listTools()),
  tools_call: async (client) => {
    await client.listTools()
    await client.callTool("add_numbers", { a: 5, b: 3 })
  },
  "elicitation-sep1034-client-defaults": callAll("test_client_elicitation_defaults"),
  "sse-retry": callAll("test_reconnection"),
  "json-schema-2020-12-preservation": async (client) => {
    const { tools } = await client.listTools()
    const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema ?? {}
    await client.callTool("json_schema_echo", { schema })
  },
  "request-metadata": async (client) => {
    await client.listTools()
    await client.ping()
  },
  "sep-2322-client-request-state": async (client) => {
    await client.listTools()
    await client.callTool("test_mrtr_echo_state")
    await client.callTool("test_mrtr_no_state")
    await client.callTool("test_mrtr_unrelated")
    await client.callTool("test_mrtr_no_result_type")
  },
  "http-standard-headers": async (client) => {
    const { tools } = await client.listTools()
    for (const { name } of tools) await client.callTool(name)
    const { resources } = await client.listResources()
    for (const { uri } of resources) await client.readResource(uri)
    const { prompts } = await client.listPrompts()
    for (const { name } of prompts) await client.getPrompt(name)
  },
  "http-custom-headers": async (client, context) => {
    await client.listTools()
    const { toolCalls = [] } = context as {
      readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[]
    }
    for (const call of toolCalls) await client.callTool(call.name, call.arguments)
  },
  "http-invalid-tool-headers": async (client) => {
    const { tools } = await client.listTools()
    for (const { name } of tools) await client.callTool(name, { region: "eu" })
  },
  "json-schema-ref-no-deref": async (client) => void (await client.listTools()),
}
