/** `resources/list`, `resources/templates/list` and `resources/read`, in both eras. */
import { contents, createServer, McpError, resource, resourceTemplate } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import type { Json } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

/** Everything of a result but what it says of itself. */
function bare({ result }: Json): Json {
  const { _meta, resultType, ...rest } = result as Json
  return rest
}

/** A server with these resources whose log nobody reads. */
function serving(...resources: readonly (ReturnType<typeof resource> | ReturnType<typeof resourceTemplate>)[]) {
  return createServer({ name: "test", version: "1.0.0", resources, logger: createRecordingLogger() })
}

describe.each(eras)("what a resource holds, read by a %s client,", (era) => {
  const hints = era === "modern" ? { ttlMs: 0, cacheScope: "private" } : {}
  const read = (returned: unknown, mimeType?: string): Promise<Json> => {
    const options = { name: "subject", ...(mimeType === undefined ? {} : { mimeType }) }
    const server = serving(resource("test://subject", options, () => returned as string))
    return link(server)[era]("resources/read", { uri: "test://subject" })
  }

  it.each<[what: string, returned: unknown, mimeType: string | undefined, expected: Json]>([
    ["a text", "# hi", "text/markdown", { mimeType: "text/markdown", text: "# hi" }],
    ["a text without a type", "", undefined, { text: "" }],
    ["bytes", new Uint8Array([0, 255, 16]), "image/png", { mimeType: "image/png", blob: "AP8Q" }],
    ["a buffer", Buffer.from("hi"), undefined, { blob: "aGk=" }],
    ["no bytes", new Uint8Array(0), undefined, { blob: "" }],
    ["an object", { celsius: 21 }, undefined, { mimeType: "application/json", text: '{"celsius":21}' }],
    [
      "an object of a type of its own",
      { a: 1 },
      "application/ld+json",
      { mimeType: "application/ld+json", text: '{"a":1}' },
    ],
    ["a list", [1, 2], undefined, { mimeType: "application/json", text: "[1,2]" }],
    ["null", null, undefined, { mimeType: "application/json", text: "null" }],
    ["zero", 0, undefined, { mimeType: "application/json", text: "0" }],
    ["false", false, undefined, { mimeType: "application/json", text: "false" }],
  ])("is %s", async (_, returned, mimeType, expected) => {
    expect(bare(await read(returned, mimeType))).toEqual({
      contents: [{ uri: "test://subject", ...expected }],
      ...hints,
    })
    expect(bare(await read(Promise.resolve(returned), mimeType))).toMatchObject({ contents: [expected] })
  })

  it("may be several contents, each with a uri and a type of its own", async () => {
    const several = contents([
      { text: "one" },
      { uri: "test://subject/2", text: "two", mimeType: "text/plain", _meta: { "example.com/a": 1 } },
      { uri: "test://subject/3", blob: new Uint8Array([1]) },
      { uri: "test://subject/4", blob: "AQ==" },
    ])
    expect(bare(await read(several, "text/markdown"))).toEqual({
      contents: [
        { uri: "test://subject", mimeType: "text/markdown", text: "one" },
        { uri: "test://subject/2", mimeType: "text/plain", text: "two", _meta: { "example.com/a": 1 } },
        { uri: "test://subject/3", mimeType: "text/markdown", blob: "AQ==" },
        { uri: "test://subject/4", mimeType: "text/markdown", blob: "AQ==" },
      ],
      ...hints,
    })
  })

  it.each<[what: string, returned: unknown]>([
    ["a function", () => "x"],
    ["a date", new Date(0)],
    ["a big integer", 1n],
    ["no contents at all", contents([])],
    ["a blob that is no base64", contents([{ blob: "not base64!" }])],
  ])("is an internal error with a reference when it is %s", async (_, returned) => {
    const { error } = await read(returned)
    expect(error).toMatchObject({ code: -32603, data: { reason: "internal_error", reference: expect.any(String) } })
  })

  it("is not there when the reader says so", async () => {
    const { error } = await read(undefined)
    const code = era === "modern" ? -32602 : -32002
    expect(error).toMatchObject({ code, data: { reason: "resource_not_found", uri: "test://subject" } })
  })
})

describe.each(eras)("a uri that a %s client reads", (era) => {
  const server = serving(
    resource("test://fixed", { name: "fixed" }, () => "fixed"),
    resource("test://items/first", { name: "first" }, () => "the resource"),
    resourceTemplate("test://items/{id}", { name: "item" }, ({ id }) => `item ${id}`),
    resourceTemplate("test://items/{+path}", { name: "path" }, ({ path }) => `path ${path}`),
    resourceTemplate("test://search{?q,limit}", { name: "search" }, (found) => found),
    resourceTemplate("file:///docs/{+path}", { name: "docs" }, ({ path }) => `file ${path}`),
  )
  const read = (uri: unknown): Promise<Json> => link(server)[era]("resources/read", { uri })

  it.each([
    ["a resource before any template", "test://items/first", "the resource"],
    ["the first template that matches", "test://items/7", "item 7"],
    ["a later template when the first does not match", "test://items/a/b", "path a/b"],
    ["decoded values", "test://items/a%20b%2Fc", "item a b/c"],
    ["a query in any order", "test://search?limit=5&q=sun", '{"q":"sun","limit":"5"}'],
    ["a query with a part left out", "test://search?q=a%26b", '{"q":"a&b"}'],
    ["a query that is not there", "test://search", "{}"],
  ])("is read as %s", async (_, uri, text) => {
    const { contents: [first] = [] } = bare(await read(uri)) as { contents: Json[] }
    expect(first?.["uri"]).toBe(uri)
    const given = first?.["text"]
    expect(text.startsWith("{") ? JSON.parse(String(given)) : given).toEqual(
      text.startsWith("{") ? JSON.parse(text) : text,
    )
  })

  it.each([
    "test://nothing",
    "test://FIXED",
    "test://items/",
    "test://search?unknown=1",
    "file:///docs/../etc/passwd",
    "file:///docs/a/%2e%2e/%2e%2e/etc/passwd",
    "file:///docs/..%2f..%2fetc/passwd",
    "file:///docs/%252e%252e/etc/passwd",
    "file:///docs/..\\etc",
    "constructor:x",
    "test://items/%00",
    "test://items/%ff",
  ])("is not found: %s", async (uri) => {
    const { error } = await read(uri)
    expect(error).toMatchObject({
      code: era === "modern" ? -32602 : -32002,
      data: { reason: "resource_not_found", uri },
    })
  })

  it.each(["", "fixed", "//fixed", "test:", "test://a b", "test://a\nb", "__proto__", "toString", "://x"])(
    "is invalid params that name it when it is malformed: %j",
    async (uri) => {
      const { error } = await read(uri)
      expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_params", uri: expect.any(String) } })
    },
  )

  it.each([[undefined], [null], [1], [["test://fixed"]], [{ uri: "test://fixed" }]])(
    "is invalid params when it is no text: %j",
    async (uri) => {
      expect(await read(uri)).toMatchObject({ error: { code: -32602, data: { reason: "invalid_params" } } })
    },
  )
})

describe.each(eras)("a reader that fails, for a %s client,", (era) => {
  it("says nothing of why; the log does", async () => {
    const logger = createRecordingLogger()
    const failing = resource("test://subject", { name: "subject" }, () => Promise.reject(new Error("secret detail")))
    const server = createServer({ name: "test", version: "1.0.0", resources: [failing], logger })
    const answer = await link(server)[era]("resources/read", { uri: "test://subject" })
    expect(answer).toMatchObject({ error: { code: -32603, data: { reason: "internal_error" } } })
    expect(JSON.stringify(answer)).not.toContain("secret detail")
    expect(logger.lines).toMatchObject([{ level: "error", message: expect.stringContaining("test://subject") }])
    expect(JSON.stringify(answer)).toContain(String(logger.lines[0]?.fields?.["reference"]))
  })

  it("may raise an error of the protocol", async () => {
    const gone = resource("test://subject", { name: "subject" }, () => {
      throw new McpError("not for you", { kind: "protocol", reason: "forbidden", code: -32602 })
    })
    const { error } = await link(serving(gone))[era]("resources/read", { uri: "test://subject" })
    expect(error).toEqual({ code: -32602, message: "not for you", data: { reason: "forbidden" } })
  })
})

describe.each(eras)("resources and templates, listed to a %s client,", (era) => {
  const icons = [{ src: "https://example.com/a.png" }]
  const annotations = { audience: ["user" as const], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" }
  const full = resource(
    "test://full",
    {
      name: "full",
      title: "Full",
      description: "All members",
      mimeType: "text/plain",
      size: 3,
      icons,
      annotations,
      freshness: { ttlMs: 1_000, cacheScope: "public" },
      meta: { "example.com/a": 1 },
    },
    () => "abc",
  )
  const template = resourceTemplate(
    "test://{id}",
    {
      name: "one",
      title: "One",
      description: "By id",
      mimeType: "text/plain",
      icons,
      annotations,
      meta: { "example.com/b": 2 },
    },
    ({ id }) => id,
  )

  it("say all that was said of them, and nothing of how they are served", async () => {
    const wire = link(serving(full, template))
    const listed = bare(await wire[era]("resources/list")) as { resources: Json[] }
    expect(listed.resources).toEqual([
      {
        uri: "test://full",
        name: "full",
        title: "Full",
        description: "All members",
        mimeType: "text/plain",
        size: 3,
        icons,
        annotations,
        _meta: { "example.com/a": 1 },
      },
    ])
    const templates = bare(await wire[era]("resources/templates/list")) as { resourceTemplates: Json[] }
    expect(templates.resourceTemplates).toEqual([
      {
        uriTemplate: "test://{id}",
        name: "one",
        title: "One",
        description: "By id",
        mimeType: "text/plain",
        icons,
        annotations,
        _meta: { "example.com/b": 2 },
      },
    ])
  })

  it.each([
    ["only resources", [full]],
    ["only templates", [template]],
  ])("are both answered for by a server with %s", async (_, definitions) => {
    const wire = link(serving(...definitions))
    expect(await wire[era]("resources/list")).toMatchObject({ result: { resources: expect.any(Array) } })
    expect(await wire[era]("resources/templates/list")).toMatchObject({
      result: { resourceTemplates: expect.any(Array) },
    })
    expect(await wire[era]("resources/read", { uri: "test://absent/x" })).toMatchObject({
      error: { data: { reason: "resource_not_found" } },
    })
  })
})

describe("how long what is read may be kept", () => {
  it("is as the resource says, in the modern era", async () => {
    const server = serving(
      resource("test://fixed", { name: "fixed", freshness: { ttlMs: 60_000, cacheScope: "public" } }, () => ""),
      resourceTemplate("test://t/{id}", { name: "t", freshness: { ttlMs: 5, cacheScope: "private" } }, () => ""),
    )
    const wire = link(server)
    const fixed = await wire.modern("resources/read", { uri: "test://fixed" })
    expect(fixed).toMatchObject({ result: { ttlMs: 60_000, cacheScope: "public" } })
    const one = await wire.modern("resources/read", { uri: "test://t/1" })
    expect(one).toMatchObject({ result: { ttlMs: 5, cacheScope: "private" } })
    expect(bare(await wire.legacy("resources/read", { uri: "test://fixed" }))).toEqual({
      contents: [{ uri: "test://fixed", text: "" }],
    })
  })
})

describe("a resource that cannot be", () => {
  it.each<[what: string, define: () => unknown, says: RegExp]>([
    ["without a scheme", () => resource("readme.md", { name: "x" }, () => ""), /"readme\.md" is not an absolute URI/],
    ["without a name", () => resource("test://x", { name: "" }, () => ""), /"test:\/\/x" needs a name/],
    ["whose template is broken", () => resourceTemplate("test://{id", { name: "x" }, () => ""), /brace/],
    ["whose template has no name", () => resourceTemplate("test://{id}", { name: "" }, () => ""), /needs a name/],
    [
      "that completes what it has not",
      () => resourceTemplate("test://{id}", { name: "x", complete: { other: () => [] } as never }, () => ""),
      /complete\.other is not a variable/,
    ],
  ])("%s is refused where it is defined", (_, define, says) => {
    let thrown: unknown
    try {
      define()
    } catch (error) {
      thrown = error
    }
    expect(McpError.is(thrown, "misuse")).toBe(true)
    expect((thrown as McpError).message).toMatch(says)
  })

  it("is one that stands twice", () => {
    const one = resource("test://x", { name: "x" }, () => "")
    const many = resourceTemplate("test://{x}", { name: "x" }, () => "")
    expect(() => serving(one, one)).toThrow(/resource "test:\/\/x" is defined twice/)
    expect(() => serving(many, many)).toThrow(/resource template "test:\/\/\{x\}" is defined twice/)
  })
})
