/** The official SDK's client, version 2, in every way in which it negotiates. */
import {
  Client,
  type JsonSchemaType,
  StreamableHTTPClientTransport,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv"
import { type ClientName, Ear, type InteropClient, identity, type Place } from "./client.js"

interface Mode {
  readonly versionNegotiation: VersionNegotiationOptions
  readonly supportedProtocolVersions?: string[]
}

const modes: Readonly<Record<Exclude<ClientName, "v1">, Mode>> = {
  "v2 legacy": { versionNegotiation: { mode: "legacy" } },
  "v2 legacy 2025-06-18": {
    versionNegotiation: { mode: "legacy" },
    supportedProtocolVersions: ["2025-06-18"],
  },
  "v2 auto": { versionNegotiation: { mode: "auto" } },
  "v2 pinned 2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } },
}

/** Connects a client of version 2. */
export async function connectV2(name: Exclude<ClientName, "v1">, place: Place): Promise<InteropClient> {
  const ear = new Ear(place)
  const ajv = new AjvJsonSchemaValidator()
  const jsonSchemaValidator = { getValidator: <T>(schema: JsonSchemaType) => ear.count(ajv.getValidator<T>(schema)) }
  const client = new Client(identity, { capabilities: {}, jsonSchemaValidator, ...modes[name] })
  const transport = openTransport(place, ear)
  ear.hear(client)
  client.setNotificationHandler("notifications/message", ({ params }) => void ear.logs.push(params))
  await client.connect(transport)
  const http = transport instanceof StreamableHTTPClientTransport ? transport : undefined
  return {
    negotiated: {
      version: client.getNegotiatedProtocolVersion(),
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
    callTool: (tool, args = {}, { meta, ...options } = {}) =>
      client.callTool(
        { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
        options as Parameters<typeof client.callTool>[1],
      ),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    readResource: (uri) => client.readResource({ uri }),
    listPrompts: () => client.listPrompts(),
    getPrompt: (prompt, args = {}) => client.getPrompt({ name: prompt, arguments: args }),
    complete: (ref, argument, value) => client.complete({ ref, argument: { name: argument, value } }),
    ping: () => client.ping(),
    setLoggingLevel: (level) => client.setLoggingLevel(level),
    discover: () => client.discover(),
    terminateSession: http === undefined ? undefined : () => http.terminateSession(),
    close: () => client.close(),
  }
}

function openTransport(place: Place, ear: Ear): StreamableHTTPClientTransport | StdioClientTransport {
  if (place.transport === "http") return new StreamableHTTPClientTransport(new URL(place.url))
  const transport = new StdioClientTransport({ command: process.execPath, args: [...place.args], stderr: "pipe" })
  transport.stderr?.on("data", (text: Buffer) => {
    ear.stderr += text.toString("utf8")
  })
  return transport
}
