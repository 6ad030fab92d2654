/** A server that grows, changes and shrinks while it is served. */
import { type Change, createServer, type Limits, McpError, prompt, resource, resourceTemplate, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { link } from "../support/link.js"
import type { Json } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

const misuse = (act: () => unknown): McpError => {
  try {
    act()
  } catch (error) {
    if (McpError.is(error, "misuse")) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

describe.each(eras)("a definition that is added at run time, for a %s client,", (era) => {
  it("is listed and served at once, and gone once it is removed", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const wire = link(server)
    expect(await wire[era]("tools/list")).toMatchObject({ error: { code: -32601 } })

    const entries = [
      server.tool("t", { input: z.object({ a: z.string() }) }, ({ a }) => a),
      server.resource("test://r", { name: "r" }, () => "r"),
      server.resourceTemplate("test://r/{id}", { name: "rt", complete: { id: () => ["1"] } }, ({ id }) => id),
      server.prompt("p", { args: z.object({ a: z.string() }) }, ({ a }) => a),
    ]
    const uses: readonly [method: string, params: Json, expected: Json][] = [
      ["tools/list", {}, { tools: [{ name: "t" }] }],
      ["tools/call", { name: "t", arguments: { a: "said" } }, { content: [{ text: "said" }] }],
      ["resources/list", {}, { resources: [{ uri: "test://r" }] }],
      ["resources/read", { uri: "test://r" }, { contents: [{ text: "r" }] }],
      ["resources/templates/list", {}, { resourceTemplates: [{ uriTemplate: "test://r/{id}" }] }],
      ["resources/read", { uri: "test://r/7" }, { contents: [{ text: "7" }] }],
      ["prompts/list", {}, { prompts: [{ name: "p" }] }],
      ["prompts/get", { name: "p", arguments: { a: "said" } }, { messages: [{ content: { text: "said" } }] }],
      [
        "completion/complete",
        { ref: { type: "ref/resource", uri: "test://r/{id}" }, argument: { name: "id", value: "" } },
        { completion: { values: ["1"] } },
      ],
    ]
    for (const [method, params, expected] of uses)
      expect(await wire[era](method, params)).toMatchObject({ result: expected })
    for (const entry of entries) entry.remove()
    for (const [method, params] of uses)
      expect(await wire[era](method, params)).toMatchObject({ error: { code: -32601 } })
  })

  it("shows its update, keeps its place and its handler", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const first = server.tool("first", { description: "old", annotations: { readOnlyHint: true } }, () => "still here")
    server.tool("second", {}, () => "")
    const wire = link(server)
    const list = async (): Promise<unknown> => ((await wire[era]("tools/list"))["result"] as { tools: Json[] }).tools
    expect(await list()).toMatchObject([{ name: "first", description: "old" }, { name: "second" }])
    first.update({ description: "new" })
    first.update({ title: "First" })
    expect(await list()).toMatchObject([
      { name: "first", title: "First", description: "new", annotations: { readOnlyHint: true } },
      { name: "second" },
    ])
    const called = await wire[era]("tools/call", { name: "first" })
    expect(called).toMatchObject({ result: { content: [{ text: "still here" }] } })
  })

  it("may be updated whatever it is", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    server.resource("test://r", { name: "r" }, () => "r").update({ description: "new r", mimeType: "text/plain" })
    server.resourceTemplate("test://{id}", { name: "rt" }, () => "").update({ description: "new rt" })
    server.prompt("p", {}, () => "").update({ description: "new p" })
    const wire = link(server)
    expect(await wire[era]("resources/list")).toMatchObject({ result: { resources: [{ description: "new r" }] } })
    expect(await wire[era]("resources/read", { uri: "test://r" })).toMatchObject({
      result: { contents: [{ mimeType: "text/plain" }] },
    })
    expect(await wire[era]("resources/templates/list")).toMatchObject({
      result: { resourceTemplates: [{ description: "new rt" }] },
    })
    expect(await wire[era]("prompts/list")).toMatchObject({ result: { prompts: [{ description: "new p" }] } })
    expect(await wire[era]("prompts/get", { name: "p" })).toMatchObject({ result: { description: "new p" } })
  })

  it("is the one that a call in flight started with, even when it is removed meanwhile", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    let enter: () => void = () => {}
    let leave: (text: string) => void = () => {}
    const entered = new Promise<void>((resolve) => {
      enter = resolve
    })
    const entry = server.tool("slow", {}, () => {
      enter()
      return new Promise<string>((resolve) => {
        leave = resolve
      })
    })
    const wire = link(server)
    const answer = wire[era]("tools/call", { name: "slow" })
    await entered
    entry.remove()
    expect(await wire[era]("tools/call", { name: "slow" })).toMatchObject({ error: { code: -32601 } })
    leave("finished")
    expect(await answer).toMatchObject({ result: { content: [{ text: "finished" }] } })
  })

  it("is declared to whoever asks from then on", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const open = async (): Promise<unknown> => {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } }
      const wire = link(server)
      const answer =
        era === "modern"
          ? await wire.modern("server/discover")
          : await wire.request({ jsonrpc: "2.0", id: 1, method: "initialize", params })
      return (answer["result"] as { capabilities: Json }).capabilities
    }
    expect(await open()).not.toHaveProperty("tools")
    const entry = server.tool("t", {}, () => "")
    expect(await open()).toHaveProperty("tools")
    entry.remove()
    expect(await open()).not.toHaveProperty("tools")
  })
})

describe("the handle of a definition", () => {
  it("does nothing more once it was removed, and never brings it back", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const entry = server.tool("t", { description: "first" }, () => "first")
    entry.remove()
    entry.remove()
    expect(misuse(() => entry.update({ description: "back" })).message).toMatch(/"t" was removed/)
    expect(await link(server).modern("tools/list")).toMatchObject({ error: { code: -32601 } })
  })

  it("has no power over another one of the same name", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const entry = server.tool("t", {}, () => "first")
    entry.remove()
    server.tool("t", { description: "second" }, () => "second")
    entry.remove()
    expect(() => entry.update({ description: "first again" })).toThrow(/was removed/)
    const wire = link(server)
    expect(await wire.modern("tools/list")).toMatchObject({ result: { tools: [{ description: "second" }] } })
    expect(await wire.modern("tools/call", { name: "t" })).toMatchObject({ result: { content: [{ text: "second" }] } })
  })
})

describe("a name that is taken", () => {
  it("is refused, and what has it stays", async () => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [tool("t", {}, () => "first")] })
    expect(misuse(() => server.tool("t", {}, () => "second")).reason).toBe("duplicate_definition")
    expect(misuse(() => server.add(tool("t", {}, () => "third"))).reason).toBe("duplicate_definition")
    expect(await link(server).modern("tools/call", { name: "t" })).toMatchObject({
      result: { content: [{ text: "first" }] },
    })
  })
})

describe("components and the builder", () => {
  it("end in the same server", async () => {
    const components = [
      tool("t", { description: "d" }, () => "t"),
      resource("test://r", { name: "r" }, () => "r"),
      resourceTemplate("test://{id}", { name: "rt" }, () => ""),
      prompt("p", {}, () => "p"),
    ] as const
    const declared = createServer({
      name: "test",
      version: "1.0.0",
      tools: [components[0]],
      resources: [components[1], components[2]],
      prompts: [components[3]],
    })
    const built = createServer({ name: "test", version: "1.0.0" })
    built.tool("t", { description: "d" }, () => "t")
    built.resource("test://r", { name: "r" }, () => "r")
    built.resourceTemplate("test://{id}", { name: "rt" }, () => "")
    built.prompt("p", {}, () => "p")
    const added = createServer({ name: "test", version: "1.0.0" })
    for (const component of components) added.add(component)
    for (const method of [
      "server/discover",
      "tools/list",
      "resources/list",
      "resources/templates/list",
      "prompts/list",
    ]) {
      const answers = await Promise.all([declared, built, added].map((server) => link(server).modern(method)))
      expect(answers[1]?.["result"]).toEqual(answers[0]?.["result"])
      expect(answers[2]?.["result"]).toEqual(answers[0]?.["result"])
    }
  })

  it("share a definition between servers without sharing its changes", async () => {
    const shared = tool("t", { description: "shared" }, () => "")
    const one = createServer({ name: "one", version: "1.0.0", tools: [shared] })
    const two = createServer({ name: "two", version: "1.0.0", tools: [shared] })
    one.add(tool("mine", {}, () => ""))
    const { result } = await link(two).modern("tools/list")
    expect(result).toMatchObject({ tools: [{ name: "t", description: "shared" }] })
    expect((result as { tools: Json[] }).tools).toHaveLength(1)
  })
})

describe("what changes", () => {
  it("is said on the bus of every endpoint that is open", () => {
    const heard: Change[] = []
    const bus = { publish: (change: Change) => void heard.push(change), subscribe: () => () => {} }
    const server = createServer({ name: "test", version: "1.0.0" })
    const endpoint = server.endpoint({ bus })
    const entry = server.tool("t", {}, () => "")
    entry.update({ title: "T" })
    entry.remove()
    entry.remove()
    server.resource("test://r", { name: "r" }, () => "")
    server.resourceTemplate("test://{id}", { name: "rt" }, () => "")
    server.prompt("p", {}, () => "")
    server.changed("prompts")
    server.updated("test://r")
    expect(heard).toEqual([
      { kind: "list", list: "tools" },
      { kind: "list", list: "tools" },
      { kind: "list", list: "tools" },
      { kind: "list", list: "resources" },
      { kind: "list", list: "resources" },
      { kind: "list", list: "prompts" },
      { kind: "list", list: "prompts" },
      { kind: "resource", uri: "test://r" },
    ])
    endpoint.close()
    server.changed("tools")
    expect(heard).toHaveLength(8)
  })
})

describe("a server that cannot be", () => {
  it.each([
    ["without a name", { name: "", version: "1" }],
    ["without a version", { name: "t", version: "" }],
    ["whose name is no text", { name: 1 as never, version: "1" }],
    ["with a freshness that is negative", { name: "t", version: "1", freshness: { ttlMs: -1 } }],
    ["with a freshness of an unknown scope", { name: "t", version: "1", freshness: { cacheScope: "shared" as never } }],
    ["with an extension without a prefix", { name: "t", version: "1", extensions: { tasks: {} } }],
    ["with an extension whose prefix is none", { name: "t", version: "1", extensions: { "com.-x/tasks": {} } }],
    [
      "with such an extension beside handlers",
      { name: "t", version: "1", handlers: {}, capabilities: { extensions: { "/tasks": {} } } },
    ],
  ])("is refused: %s", (_, options) => {
    expect(misuse(() => createServer(options)).reason).toBe("invalid_option")
  })

  it.each([
    ["an unknown limit", { maxSession: 1 }],
    ["a limit of zero", { maxSessions: 0 }],
    ["a limit that is no integer", { maxInFlight: 1.5 }],
    ["a limit that is endless", { maxInFlight: Number.POSITIVE_INFINITY }],
  ])("or cannot be served so: %s", (_, limits) => {
    const server = createServer({ name: "t", version: "1" })
    expect(misuse(() => server.endpoint({ limits: limits as Partial<Limits> })).reason).toBe("invalid_option")
  })
})
