/** The official SDKs' clients hear of changes: over the listen stream, the standby stream, the deprecated transport and stdio. */
import { fileURLToPath } from "node:url"
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client"
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  CallToolResultSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js"
import { createServer, resource, type Server, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { identity } from "./client.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const script = fileURLToPath(new URL("./changing.js", import.meta.url))

/** What a client heard, and a way to wait for it. */
class Heard {
  readonly notes: string[] = []
  #look: () => void = () => {}

  add(note: string): void {
    this.notes.push(note)
    this.#look()
  }

  until(...expected: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (expected.every((note) => this.notes.includes(note))) resolve()
      }
      this.#look()
    })
  }
}

function changingServer(): Server {
  const note = resource("note://1", { name: "note" }, () => "a note")
  const patient = tool("patient", {}, (_, ctx) => {
    ctx.disconnect({ retryMs: 50 })
    return "worth the wait"
  })
  return createServer({ name: "changing", version: "1.0.0", tools: [patient], resources: [note] })
}

async function start(server: Server): Promise<Running> {
  const running = await serve(server, { port: 0, sse: true })
  open.push(() => running.close())
  return running
}

async function connectV1(
  transport: HttpV1 | SSEClientTransport | StdioV1,
): Promise<{ client: ClientV1; heard: Heard }> {
  const client = new ClientV1(identity, { capabilities: {} })
  const heard = new Heard()
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard.add("tools"))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.add(params.uri))
  client.onerror = (error) => heard.add(error.message)
  // The SDK's own transports are not assignable to its `Transport` under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  open.push(() => client.close())
  return { client, heard }
}

async function connectV2(transport: HttpV2 | StdioV2): Promise<{ client: ClientV2; heard: Heard }> {
  const client = new ClientV2(identity, { capabilities: {}, versionNegotiation: { mode: { pin: "2026-07-28" } } })
  const heard = new Heard()
  client.setNotificationHandler("notifications/tools/list_changed", () => heard.add("tools"))
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.add(params.uri))
  await client.connect(transport)
  open.push(() => client.close())
  return { client, heard }
}

/** Says that something changed until it was heard: when a client is ready to hear is its own business. */
async function changeUntil(heard: Promise<void>, server: Server): Promise<void> {
  let isHeard = false
  void heard.then(() => {
    isHeard = true
  })
  while (!isHeard) {
    server.changed("tools")
    server.updated("note://1")
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["note://1", "note://2"] }
const honored = { toolsListChanged: true, resourceSubscriptions: ["note://1"] }

describe("the client of version 2", () => {
  it("listens over HTTP, hears what it asked for, and lets go", async () => {
    const server = changingServer()
    const { url } = await start(server)
    const { client, heard } = await connectV2(new HttpV2(new URL(url)))
    const subscription = await client.listen(filter)
    expect(subscription.honoredFilter).toEqual(honored)
    server.changed("tools")
    server.updated("note://1")
    await heard.until("tools", "note://1")
    await subscription.close()
    expect(await subscription.closed).toBe("local")
    expect(heard.notes).toEqual(["tools", "note://1"])
  })

  it("is told that a stream ended gracefully when the server goes down", async () => {
    const running = await start(changingServer())
    const { client } = await connectV2(new HttpV2(new URL(running.url)))
    const subscription = await client.listen({ toolsListChanged: true })
    await running.drain(1_000)
    expect(await subscription.closed).toBe("graceful")
  })

  it("is told that a stream that hears of nothing is over", async () => {
    const { url } = await start(changingServer())
    const { client } = await connectV2(new HttpV2(new URL(url)))
    const subscription = await client.listen({ promptsListChanged: true })
    expect(subscription.honoredFilter).toEqual({})
    expect(await subscription.closed).toBe("graceful")
  })

  it("listens on standard streams", async () => {
    const { client, heard } = await connectV2(
      new StdioV2({ command: process.execPath, args: [script], stderr: "inherit" }),
    )
    const subscription = await client.listen(filter)
    expect(subscription.honoredFilter).toEqual(honored)
    await client.callTool({ name: "change" })
    await heard.until("tools", "note://1")
    await subscription.close()
  })
})

describe("the client of version 1", () => {
  it("subscribes to a resource and hears on its standby stream", async () => {
    const server = changingServer()
    const { url } = await start(server)
    const { client, heard } = await connectV1(new HttpV1(new URL(url)))
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    })
    await client.subscribeResource({ uri: "note://1" })
    await changeUntil(heard.until("tools", "note://1"), server)
    await client.unsubscribeResource({ uri: "note://1" })
    expect(new Set(heard.notes)).toEqual(new Set(["tools", "note://1"]))
  })

  it("comes back for the answer of a call that let it go", async () => {
    const { url } = await start(changingServer())
    const { client } = await connectV1(new HttpV1(new URL(url)))
    const result = await client.callTool({ name: "patient" }, CallToolResultSchema)
    expect(result.content).toEqual([{ type: "text", text: "worth the wait" }])
  })

  it("hears on standard streams", async () => {
    const { client, heard } = await connectV1(new StdioV1({ command: process.execPath, args: [script] }))
    await client.subscribeResource({ uri: "note://1" })
    await client.callTool({ name: "change" }, CallToolResultSchema)
    await heard.until("tools", "note://1")
  })

  it("does all of it over the deprecated transport", async () => {
    const server = changingServer()
    const { url } = await start(server)
    const { client, heard } = await connectV1(new SSEClientTransport(new URL("/sse", url)))
    await client.subscribeResource({ uri: "note://1" })
    server.changed("tools")
    server.updated("note://1")
    await heard.until("tools", "note://1")
    const result = await client.callTool({ name: "patient" }, CallToolResultSchema)
    expect(result.content).toEqual([{ type: "text", text: "worth the wait" }])
    expect(heard.notes).toEqual(["tools", "note://1"])
  })
})
