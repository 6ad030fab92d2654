/** A gate made of one function: who is admitted, and that a failure admits nobody. */
import { describe, expect, it } from "vitest"
import { type Authenticate, authenticate, type GateFacts } from "../../../src/core/http/gate.js"

const facts: GateFacts = {
  method: "POST",
  path: "/mcp",
  header: (name) => (name === "authorization" ? "Bearer t" : undefined),
}
const ada = { id: "ada", scopes: ["read"] }
const broken = new Error("the database said: password=hunter2")

const throwing = {
  get id() {
    throw broken
  },
}

/** A function of somebody without types. */
const untyped = (result: unknown) => (() => result) as Authenticate

describe("a gate from a function", () => {
  it.each<[string, Authenticate]>([
    ["at once", (seen) => (seen.header("authorization") === "Bearer t" ? ada : undefined)],
    ["later", async () => ada],
  ])("admits a caller that it recognises %s", async (_, fn) => {
    expect(await authenticate(fn).check(facts)).toEqual({ ok: true, principal: ada })
  })

  it("decides at once when its function does", () => {
    expect(authenticate(() => ada).check(facts)).not.toBeInstanceOf(Promise)
  })

  it.each<[string, Authenticate]>([
    ["undefined", () => undefined],
    ["undefined, later", async () => undefined],
    ["null", untyped(null)],
  ])("challenges a caller that it does not recognise: %s", async (_, fn) => {
    expect(await authenticate(fn).check(facts)).toMatchObject({
      ok: false,
      status: 401,
      challenge: "Bearer",
      reason: "unauthenticated",
    })
  })

  it.each<[string, Authenticate]>([
    [
      "throws",
      () => {
        throw broken
      },
    ],
    ["rejects", () => Promise.reject(broken)],
    ["gives a principal that throws", untyped(throwing)],
    ["gives such a principal later", untyped(Promise.resolve(throwing))],
  ])("admits nobody when its function %s, and keeps the error for the log", async (_, fn) => {
    const verdict = await authenticate(fn).check(facts)
    expect(verdict).toMatchObject({ ok: false, status: 500, reason: "internal_error", cause: broken })
    expect(verdict.ok ? "" : verdict.message).not.toContain("hunter2")
    expect(verdict).not.toHaveProperty("challenge")
  })

  it.each([[true], [1], ["ada"], [{}], [{ id: "" }], [{ id: 7 }], [[]], [Promise.resolve(true)]])(
    "admits nobody when its function returns %j",
    async (result) => {
      expect(await authenticate(untyped(result)).check(facts)).toMatchObject({ ok: false, status: 500 })
    },
  )
})
