/** Which Host, Origin and Sec-Fetch-Site values a server answers, on loopback and elsewhere. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { codes } from "../../../src/core/error/codes.js"
import { McpError } from "../../../src/core/error/error.js"
import { createGuard, type GuardOptions } from "../../../src/core/http/guard.js"

const HOST = "127.0.0.1:3000"
const loopback = createGuard({ loopback: true })

describe("on a loopback bind, the Host", () => {
  it.each([
    "localhost",
    "localhost:3000",
    "LOCALHOST:3000",
    "localhost:",
    "127.0.0.1",
    "127.0.0.1:65535",
    "127.255.255.254",
    "[::1]",
    "[::1]:3000",
  ])("%j is served, the second time too", (host) => {
    expect(loopback.check(host, undefined, undefined)).toBeUndefined()
    expect(loopback.check(host, undefined, undefined)).toBeUndefined()
  })

  it.each([
    undefined,
    "",
    ":3000",
    "evil",
    "evil.com:3000",
    "localhost.evil.com",
    "127.0.0.1.nip.io",
    "evil.com.localhost",
    "evil-localhost",
    "0.0.0.0",
    "[::]",
    "::1",
    "[::1",
    "[::1]x",
    "[::ffff:127.0.0.1]",
    "LOCALHOST.",
    "127.0.0.1.",
    "localhost..",
    "user@localhost",
    "user:pass@127.0.0.1:3000",
    "localhost@evil.com",
    "localhost:3000@evil.com",
    "localhost:80:80",
    "localhost:65536",
    "localhost:-1",
    "localhost:3000/mcp",
    "localhost#",
    "localhost, evil.com",
    "evil.com\\localhost",
    "127.1",
    "127.0.0.256",
    "0127.0.0.1",
    "127.0.0.01",
    "0177.0.0.1",
    "0x7f.1",
    "2130706433",
    "localho\u017ft",
    "localhost\0",
    " localhost",
    "128.0.0.1",
    "169.254.169.254",
  ])("%j is refused", (host) => {
    expect(loopback.check(host, undefined, undefined)).toMatchObject({
      status: 403,
      code: codes.invalidRequest,
      reason: "host_not_allowed",
    })
  })

  it.each([
    [["dev.example.com"], "dev.example.com", true],
    [["dev.example.com"], "DEV.example.com:8080", true],
    [["Dev.Example.Com"], "dev.example.com", true],
    [["dev.example.com:8080"], "dev.example.com:8080", true],
    [["dev.example.com:8080"], "dev.example.com:8081", false],
    [["dev.example.com:8080"], "dev.example.com", false],
    [["example.com"], "dev.example.com", false],
    [["[fd00::1]:3000"], "[FD00::1]:3000", true],
    [["dev.example.com"], "localhost:3000", true],
  ])("is served beside the loopback names when %j has %j: %s", (allowedHosts, host, isServed) => {
    const fault = createGuard({ loopback: true, allowedHosts }).check(host, undefined, undefined)
    expect(fault === undefined).toBe(isServed)
  })
})

describe("on a loopback bind, the Origin", () => {
  it.each([
    undefined,
    "http://localhost",
    "http://localhost:1",
    "https://localhost:8443",
    "http://127.0.0.1:6274",
    "http://127.8.8.8",
    "http://[::1]:3000",
    "HTTP://LOCALHOST:3000",
  ])("%j is served, the second time too", (origin) => {
    expect(loopback.check(HOST, origin, "same-site")).toBeUndefined()
    expect(loopback.check(HOST, origin, "same-site")).toBeUndefined()
  })

  it.each([
    "",
    "null",
    "http://evil.com",
    "http://evil.com:3000",
    "https://localhost.evil.com",
    "http://evil.com/localhost",
    "http://localhost@evil.com",
    "http://user@localhost",
    "http://localhost:3000/",
    "http://localhost:3000/path",
    "http://localhost?x",
    "http://localhost.",
    "http://127.0.0.1.nip.io",
    "http://0.0.0.0:3000",
    "http://localhost, http://evil.com",
    "http:localhost",
    "http:///localhost",
    "//localhost",
    "localhost",
    "ws://localhost",
    "file://",
    "file://localhost",
    "chrome-extension://abcdefghijklmnop",
    "http://localhost\nhttp://evil.com",
  ])("%j is refused", (origin) => {
    expect(loopback.check(HOST, origin, undefined)).toMatchObject({
      status: 403,
      code: codes.invalidRequest,
      reason: "origin_not_allowed",
    })
  })
})

describe("elsewhere", () => {
  it.each<[Omit<GuardOptions, "loopback">, string | undefined, string | undefined, string | undefined]>([
    [{}, "any.example.com", undefined, undefined],
    [{}, undefined, undefined, undefined],
    [{}, "any.example.com", "http://localhost:3000", "origin_not_allowed"],
    [{}, "any.example.com", "https://any.example.com", "origin_not_allowed"],
    [{ allowedHosts: ["api.example.com"] }, "api.example.com", undefined, undefined],
    [{ allowedHosts: ["api.example.com"] }, "other.example.com", undefined, "host_not_allowed"],
    [{ allowedHosts: ["api.example.com"] }, "localhost", undefined, "host_not_allowed"],
    [{ allowedHosts: ["api.example.com"] }, undefined, undefined, "host_not_allowed"],
    [{ allowedHosts: [] }, "api.example.com", undefined, "host_not_allowed"],
    [{ allowedOrigins: ["https://app.example.com"] }, "h", "https://app.example.com", undefined],
    [{ allowedOrigins: ["https://app.example.com/"] }, "h", "https://app.example.com", undefined],
    [{ allowedOrigins: ["https://APP.example.com:443"] }, "h", "https://app.example.com", undefined],
    [{ allowedOrigins: ["https://app.example.com"] }, "h", "https://App.Example.com:443", undefined],
    [{ allowedOrigins: ["https://app.example.com"] }, "h", "http://app.example.com", "origin_not_allowed"],
    [{ allowedOrigins: ["https://app.example.com"] }, "h", "https://app.example.com:8443", "origin_not_allowed"],
    [{ allowedOrigins: ["https://app.example.com"] }, "h", "https://app.example.com.evil.com", "origin_not_allowed"],
    [
      { allowedOrigins: ["https://app.example.com"] },
      "h",
      "https://evil.com#https://app.example.com",
      "origin_not_allowed",
    ],
    [{ allowedOrigins: ["*"] }, "h", "https://anything.example", undefined],
    [{ allowedOrigins: ["*"] }, "h", "null", "origin_not_allowed"],
    [{ allowedOrigins: ["null"] }, "h", "null", undefined],
    [{ allowedOrigins: ["null"] }, "h", "https://a.example", "origin_not_allowed"],
    [{ allowedOrigins: ["chrome-extension://abc"] }, "h", "chrome-extension://abc", undefined],
    [{ allowedOrigins: ["chrome-extension://abc"] }, "h", "chrome-extension://abd", "origin_not_allowed"],
    [{ allowedOrigins: [] }, "h", "https://a.example", "origin_not_allowed"],
  ])("%j with Host %j and Origin %j gives %j", (options, host, origin, reason) => {
    expect(createGuard({ loopback: false, ...options }).check(host, origin, undefined)?.reason).toBe(reason)
  })
})

describe("Sec-Fetch-Site", () => {
  it.each<[string, GuardOptions, string | undefined, string | undefined, string | undefined]>([
    ["cross-site without an Origin", { loopback: true }, undefined, "cross-site", "cross_site"],
    ["cross-site, elsewhere", { loopback: false }, undefined, "cross-site", "cross_site"],
    ["cross-site of an unlisted local page", { loopback: true }, "http://localhost:1", "cross-site", "cross_site"],
    [
      "cross-site of a listed local page",
      { loopback: true, allowedOrigins: ["http://localhost:1"] },
      "http://localhost:1",
      "cross-site",
      undefined,
    ],
    [
      "cross-site of a listed page",
      { loopback: false, allowedOrigins: ["https://a.example"] },
      "https://a.example",
      "cross-site",
      undefined,
    ],
    [
      "cross-site when all are listed",
      { loopback: false, allowedOrigins: ["*"] },
      "https://a.example",
      "cross-site",
      undefined,
    ],
    [
      "cross-site without an Origin when all are listed",
      { loopback: false, allowedOrigins: ["*"] },
      undefined,
      "cross-site",
      "cross_site",
    ],
    ["same-site", { loopback: true }, "http://localhost:1", "same-site", undefined],
    ["same-origin", { loopback: true }, undefined, "same-origin", undefined],
    ["none", { loopback: true }, undefined, "none", undefined],
  ])("%s", (_, options, origin, site, reason) => {
    expect(createGuard(options).check("localhost", origin, site)?.reason).toBe(reason)
  })
})

describe("a refusal", () => {
  it.each([
    ["evil.com", undefined, undefined, "evil.com", "allowedHosts"],
    [undefined, undefined, undefined, "without a Host", "allowedHosts"],
    ["localhost", "http://evil.com", undefined, "http://evil.com", "allowedOrigins"],
    ["localhost", "http://localhost:1", "cross-site", "http://localhost:1", "allowedOrigins"],
  ])("of %j, %j, %j says what came and which option to set", (host, origin, site, came, option) => {
    const message = loopback.check(host, origin, site)?.message
    expect(message).toContain(came)
    expect(message).toContain(option)
  })

  it("shows at most 200 characters of what came, and no control characters", () => {
    const message = loopback.check(`\u001b[31m\u202e${"x".repeat(100_000)}`, undefined, undefined)?.message ?? ""
    expect(message.length).toBeLessThan(300)
    expect(message).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  it("holds for any text in any of the three", () => {
    const noise = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.domain(), fc.ipV4(), fc.ipV6())
    fc.assert(
      fc.property(noise, (text) => {
        fc.pre(!/^(?:https?:\/\/)?(?:localhost|127\.|\[::1\])/i.test(text))
        expect(loopback.check(text, undefined, undefined)?.reason).toBe("host_not_allowed")
        expect(loopback.check("localhost", text, undefined)?.reason).toBe("origin_not_allowed")
      }),
    )
  })
})

describe("an option that could never match", () => {
  it.each<[string, Partial<GuardOptions>]>([
    ["a host with a scheme", { allowedHosts: ["https://example.com"] }],
    ["a host with a path", { allowedHosts: ["example.com/mcp"] }],
    ["a wildcard host", { allowedHosts: ["*.example.com"] }],
    ["an empty host", { allowedHosts: [""] }],
    ["an origin with a path", { allowedOrigins: ["https://example.com/app"] }],
    ["an origin without a scheme", { allowedOrigins: ["example.com"] }],
    ["a wildcard origin", { allowedOrigins: ["https://*.example.com"] }],
  ])("is refused when the guard is made: %s", (_, options) => {
    let caught: unknown
    try {
      createGuard({ loopback: true, ...options })
    } catch (error) {
      caught = error
    }
    expect(McpError.is(caught, "misuse") && caught.reason).toBe("invalid_option")
  })
})
