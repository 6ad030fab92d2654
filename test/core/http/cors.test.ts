/** Which pages may read answers, and what their browsers are told, by the Fetch standard's CORS protocol. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { McpError } from "../../../src/core/error/error.js"
import { type CorsOptions, createCors } from "../../../src/core/http/cors.js"

const APP = "https://app.example.com"
const OTHER = "https://other.example.com"
const LOCAL = "http://localhost:5173"

/** The headers of an answer, by lower-case name. */
function read(
  options: CorsOptions,
  origin: string | undefined,
  { loopback = false, allowedOrigins = [] }: { loopback?: boolean; allowedOrigins?: readonly string[] } = {},
): Record<string, string> {
  const list = createCors(options, { loopback, allowedOrigins }).headersFor(origin)
  expect(list.length % 2).toBe(0)
  return Object.fromEntries(
    Array.from({ length: list.length / 2 }, (_, at) => [String(list[2 * at]).toLowerCase(), String(list[2 * at + 1])]),
  )
}

describe("who may read", () => {
  it.each<
    [what: string, options: CorsOptions, loopback: boolean, allowed: string, origin: string, says: string | undefined]
  >([
    ["a listed origin", { origins: [APP] }, false, "", APP, APP],
    ["a listed origin, as it is spelt", { origins: [APP] }, false, "", `${APP}:443`, `${APP}:443`],
    ["an origin that is not listed", { origins: [APP] }, false, "", "https://evil.example.com", undefined],
    ["an origin that only ends like one", { origins: [APP] }, false, "", "https://notapp.example.com", undefined],
    ["an allowed origin, when none is listed", {}, false, APP, APP, APP],
    ["an allowed origin, when others are listed", { origins: [OTHER] }, true, APP, APP, undefined],
    ["a page of this machine, on loopback", {}, true, "", LOCAL, LOCAL],
    ["a page of this machine, elsewhere", {}, false, APP, LOCAL, undefined],
    ["a page of this machine, when others are listed", { origins: [APP] }, true, "", LOCAL, undefined],
    ["every page, when all are listed", { origins: ["*"] }, false, "", OTHER, "*"],
    ["the origin null, when all are listed", { origins: ["*"] }, false, "", "null", undefined],
    ["the origin null, when it is listed", { origins: ["null"] }, false, "", "null", "null"],
  ])("%s", (_what, options, loopback, allowed, origin, says) => {
    const headers = read(options, origin, { loopback, allowedOrigins: allowed === "" ? [] : [allowed] })
    expect(headers["access-control-allow-origin"]).toBe(says)
    expect(headers["vary"]).toBe("Origin")
  })

  it("an answer varies by origin, whoever asks and whether or not a page asks at all", () => {
    expect(read({ origins: [APP] }, undefined)).toEqual({ vary: "Origin" })
    expect(read({ origins: [APP] }, "https://evil.example.com")).toEqual({ vary: "Origin" })
  })

  it("nothing that a page can make up is ever answered with a permission", () => {
    const cors = createCors({ origins: [APP] }, { loopback: true, allowedOrigins: ["*"] })
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (origin) => {
        expect(cors.headersFor(origin)).toEqual(["Vary", "Origin"])
      }),
    )
  })
})

describe("what a page may read", () => {
  it("the session, the challenge and when to come again, beside the body", () => {
    const exposed = read({ origins: [APP] }, APP)
      ["access-control-expose-headers"]?.toLowerCase()
      .split(", ")
    expect(exposed?.sort()).toEqual(["mcp-session-id", "retry-after", "www-authenticate"])
  })

  it("nothing with cookies, unless that is asked for", () => {
    expect(read({ origins: [APP] }, APP)).not.toHaveProperty("access-control-allow-credentials")
    expect(read({ origins: [APP], credentials: true }, APP)).toMatchObject({
      "access-control-allow-origin": APP,
      "access-control-allow-credentials": "true",
    })
  })
})

describe("a preflight", () => {
  const preflight = (requested: string | undefined, options: CorsOptions = {}): readonly string[] =>
    (
      createCors(options, { loopback: true, allowedOrigins: [] }).preflight(requested)[
        "Access-Control-Allow-Headers"
      ] ?? ""
    )
      .toLowerCase()
      .split(", ")

  it.each([
    "content-type",
    "authorization",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
    "traceparent",
  ])("allows %s", (name) => {
    expect(preflight(undefined)).toContain(name)
    expect(preflight(name)).toContain(name)
  })

  it.each<[requested: string, name: string, isAllowed: boolean]>([
    ["mcp-param-region", "mcp-param-region", true],
    ["Mcp-Param-Region, content-type", "mcp-param-region", true],
    ["content-type,mcp-param-a,mcp-param-b", "mcp-param-b", true],
    ["mcp-param-a b", "mcp-param-a b", false],
    ["mcp-param-ä", "mcp-param-ä", false],
    ["mcp-param-a\r\nset-cookie", "mcp-param-a\r\nset-cookie", false],
    [`mcp-param-${"x".repeat(200)}`, `mcp-param-${"x".repeat(200)}`, false],
    ["x-mcp-param-a", "x-mcp-param-a", false],
    ["cookie", "cookie", false],
    ["*", "*", false],
  ])("that asks for %j: %j is allowed: %s", (requested, name, isAllowed) => {
    expect(preflight(requested).includes(name)).toBe(isAllowed)
  })

  it("allows no more mirrored arguments than one request may have", () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `mcp-param-${at}`)
    expect(preflight(names.join(",")).filter((name) => name.startsWith("mcp-param-"))).toHaveLength(64)
  })

  it("allows the headers that the option names", () => {
    expect(preflight(undefined, { allowHeaders: ["X-API-Key"] })).toContain("x-api-key")
  })

  it("allows the methods of the endpoint, and is kept for as long as browsers keep one", () => {
    const headers = createCors({}, { loopback: true, allowedOrigins: [] }).preflight(undefined)
    expect(headers["Access-Control-Allow-Methods"]?.split(", ").sort()).toEqual(["DELETE", "GET", "POST"])
    expect(headers["Access-Control-Max-Age"]).toBe("7200")
  })
})

describe("an option that cannot be", () => {
  it.each<[what: string, options: CorsOptions, allowedOrigins: readonly string[], message: RegExp]>([
    ["an origin with a path", { origins: ["https://app.example.com/x"] }, [], /cors\.origins: .*must be an origin/],
    ["an origin without a scheme", { origins: ["app.example.com"] }, [], /cors\.origins/],
    ["every origin with credentials", { origins: ["*"], credentials: true }, [], /"\*" cannot stand beside/],
    ["every allowed origin with credentials", { credentials: true }, ["*"], /"\*" cannot stand beside/],
    ["a header that is none", { origins: [APP], allowHeaders: ["x y"] }, [], /cors\.allowHeaders/],
    ["a wildcard as header", { origins: [APP], allowHeaders: ["*"] }, [], /cors\.allowHeaders/],
  ])("%s is refused at once", (_what, options, allowedOrigins, message) => {
    const make = () => createCors(options, { loopback: false, allowedOrigins })
    expect(make).toThrow(message)
    expect(make).toThrow(expect.toSatisfy((error) => McpError.is(error, "misuse") && error.reason === "invalid_option"))
  })
})
