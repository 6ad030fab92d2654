/** `completion/complete`, for arguments of prompts and variables of templates, in both eras. */
import { type Completer, createServer, prompt, resource, resourceTemplate } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import type { Json } from "../support/wire.js"

const eras = ["modern", "legacy"] as const
const cities = ["Oslo", "Osaka", "Bergen"]
const startingWith: Completer = (prefix) => cities.filter((city) => city.startsWith(prefix))
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))

/** A server whose prompt and template both complete `city` with this completer. */
function serving(city: Completer, logger = createRecordingLogger()) {
  const args = z.object({ city: z.string(), day: z.string().optional() })
  return createServer({
    name: "test",
    version: "1.0.0",
    prompts: [prompt("ask", { args, complete: { city } }, () => ""), prompt("bare", {}, () => "")],
    resources: [
      resource("test://fixed", { name: "fixed" }, () => ""),
      resourceTemplate("test://{city}/{day}", { name: "city", complete: { city } }, () => ""),
    ],
    logger,
  })
}

const refs = [
  { type: "ref/prompt", name: "ask" },
  { type: "ref/resource", uri: "test://{city}/{day}" },
]

describe.each(eras)("completion for a %s client", (era) => {
  const complete = (server: ReturnType<typeof serving>, params: Json): Promise<Json> =>
    link(server)[era]("completion/complete", params)

  it.each(refs)("suggests values for $type", async (ref) => {
    const { result } = await complete(serving(startingWith), { ref, argument: { name: "city", value: "Os" } })
    expect(result).toMatchObject({ completion: { values: ["Oslo", "Osaka"], total: 2, hasMore: false } })
  })

  it.each(refs)("waits for a completer that looks elsewhere ($type)", async (ref) => {
    const server = serving(async (prefix) => [`${prefix}lo`])
    const { result } = await complete(server, { ref, argument: { name: "city", value: "Os" } })
    expect(result).toMatchObject({ completion: { values: ["Oslo"], total: 1, hasMore: false } })
  })

  it.each([
    [0, 0, false],
    [1, 1, false],
    [100, 100, false],
    [101, 100, true],
    [5_000, 100, true],
  ])("of %d values sends %d, and says whether there are more", async (count, sent, hasMore) => {
    const server = serving(() => many(count))
    const { result } = await complete(server, { ref: refs[0], argument: { name: "city", value: "" } })
    expect(result).toMatchObject({ completion: { values: many(count).slice(0, sent), total: count, hasMore } })
  })

  it("tells the completer what is already filled in", async () => {
    const seen: unknown[] = []
    const server = serving((prefix, ctx) => {
      seen.push([prefix, ctx.arguments])
      return []
    })
    const argument = { name: "city", value: "B" }
    await complete(server, { ref: refs[0], argument, context: { arguments: { day: "monday" } } })
    await complete(server, { ref: refs[0], argument, context: {} })
    await complete(server, { ref: refs[0], argument })
    expect(seen).toEqual([
      ["B", { day: "monday" }],
      ["B", {}],
      ["B", {}],
    ])
  })

  it.each<[what: string, params: Json]>([
    ["an argument without a completer", { ref: refs[0], argument: { name: "day", value: "" } }],
    ["an argument that is not there", { ref: refs[0], argument: { name: "constructor", value: "" } }],
    [
      "a prompt without arguments",
      { ref: { type: "ref/prompt", name: "bare" }, argument: { name: "city", value: "" } },
    ],
    [
      "a resource without variables",
      { ref: { type: "ref/resource", uri: "test://fixed" }, argument: { name: "city", value: "" } },
    ],
  ])("has nothing to suggest for %s", async (_, params) => {
    const { result } = await complete(serving(startingWith), params)
    expect(result).toMatchObject({ completion: { values: [], total: 0, hasMore: false } })
  })

  it.each<[what: string, params: Json, reason: string]>([
    [
      "a prompt that is not there",
      { ref: { type: "ref/prompt", name: "__proto__" }, argument: { name: "a", value: "" } },
      "unknown_prompt",
    ],
    [
      "a template that is not there",
      { ref: { type: "ref/resource", uri: "test://{other}" }, argument: { name: "a", value: "" } },
      "resource_not_found",
    ],
    [
      "a reference of another type",
      { ref: { type: "ref/tool", name: "ask" }, argument: { name: "a", value: "" } },
      "invalid_params",
    ],
    [
      "a reference without a name",
      { ref: { type: "ref/prompt" }, argument: { name: "a", value: "" } },
      "invalid_params",
    ],
    [
      "a reference without a uri",
      { ref: { type: "ref/resource", uri: 1 }, argument: { name: "a", value: "" } },
      "invalid_params",
    ],
    ["no reference", { argument: { name: "city", value: "" } }, "invalid_params"],
    ["a reference that is null", { ref: null, argument: { name: "city", value: "" } }, "invalid_params"],
    ["no argument", { ref: refs[0] }, "invalid_params"],
    ["an argument without a value", { ref: refs[0], argument: { name: "city" } }, "invalid_params"],
    ["an argument whose value is no text", { ref: refs[0], argument: { name: "city", value: 1 } }, "invalid_params"],
    ["an argument that is a list", { ref: refs[0], argument: ["city", ""] }, "invalid_params"],
    [
      "a context with values that are no texts",
      { ref: refs[0], argument: { name: "city", value: "" }, context: { arguments: { day: 1 } } },
      "invalid_params",
    ],
    [
      "a context that is a list",
      { ref: refs[0], argument: { name: "city", value: "" }, context: { arguments: [] } },
      "invalid_params",
    ],
  ])("refuses %s as invalid params", async (_, params, reason) => {
    const { error } = await complete(serving(startingWith), params)
    expect(error).toMatchObject({ code: -32602, data: { reason } })
  })

  it.each<[what: string, completer: Completer]>([
    [
      "throws",
      () => {
        throw new Error("secret detail")
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret detail"))],
    ["gives no list", () => ({ values: ["secret detail"] }) as never],
    ["gives what is no text", () => [1, null] as never],
  ])("is an internal error when the completer %s", async (_, completer) => {
    const logger = createRecordingLogger()
    const answer = await complete(serving(completer, logger), { ref: refs[0], argument: { name: "city", value: "" } })
    expect(answer).toMatchObject({ error: { code: -32603, data: { reason: "internal_error" } } })
    expect(JSON.stringify(answer)).not.toContain("secret detail")
    expect(logger.lines).toMatchObject([{ level: "error", message: expect.stringContaining("city") }])
  })

  it("is no method of a server that completes nothing", async () => {
    const args = z.object({ city: z.string() })
    const server = createServer({ name: "test", version: "1.0.0", prompts: [prompt("ask", { args }, () => "")] })
    const { error } = await complete(server, { ref: refs[0], argument: { name: "city", value: "" } })
    expect(error).toMatchObject({ code: -32601, data: { reason: "method_not_found" } })
  })
})
