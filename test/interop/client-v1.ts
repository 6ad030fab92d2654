/** The official SDK's client, version 1. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { CallToolResultSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import type { JsonSchemaType, jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js"
import { Ear, type InteropClient, identity, type Place } from "./client.js"

/** The SDK's default validator. Its declaration file does not compile without `skipLibCheck`, so it is imported untyped. */
const { AjvJsonSchemaValidator } = (await import(String("@modelcontextprotocol/sdk/validation/ajv"))) as {
  AjvJsonSchemaValidator: new () => jsonSchemaValidator
}

type AnyTransport = StdioClientTransport | StreamableHTTPClientTransport

/** Connects a client of version 1, which knows the legacy era alone. */
export async function connectV1(place: Place): Promise<InteropClient> {
  const ear = new Ear(place)
  const ajv = new AjvJsonSchemaValidator()
  const counting = { getValidator: <T>(schema: JsonSchemaType) => ear.count(ajv.getValidator<T>(schema)) }
  const client = new Client(identity, { capabilities: {}, jsonSchemaValidator: counting })
  const transport = openTransport(place, ear)
  ear.hear(client)
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void ear.logs.push(params))
  // The SDK's own transports are not assignable to its `Transport` under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  const http = transport instanceof StreamableHTTPClientTransport ? transport : undefined
  return {
    negotiated: {
      version: ear.version,
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    errors: ear.errors,
    logs: ear.logs,
    outputs: ear.outputs,
    stderr: () => ear.stderr,
    sessionId: () => http?.sessionId,
    pid: transport instanceof StdioClientTransport ? (transport.pid ?? undefined) : undefined,
    listTools: () => client.listTools(),
    callTool: (name, args = {}, { meta, ...options } = {}) =>
      client.callTool(
        { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
        CallToolResultSchema,
        options as Parameters<typeof client.callTool>[2],
      ),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }),
    listPrompts: () => client.listPrompts(),
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }),
    complete: (ref, name, value) => client.complete({ ref, argument: { name, value } }),
    ping: () => client.ping(),
    setLoggingLevel: (level) => client.setLoggingLevel(level),
    discover: undefined,
    terminateSession: http === undefined ? undefined : () => http.terminateSession(),
    close: () => client.close(),
  }
}

function openTransport(place: Place, ear: Ear): AnyTransport {
  if (place.transport === "http") {
    const transport = new StreamableHTTPClientTransport(new URL(place.url))
    const setProtocolVersion = transport.setProtocolVersion.bind(transport)
    transport.setProtocolVersion = (version) => {
      ear.version = version
      setProtocolVersion(version)
    }
    return transport
  }
  const transport = new StdioClientTransport({ command: process.execPath, args: [...place.args], stderr: "pipe" })
  transport.stderr?.on("data", (text: Buffer) => {
    ear.stderr += text.toString("utf8")
  })
  return Object.assign(transport, {
    setProtocolVersion: (version: string) => {
      ear.version = version
    },
  })
}
