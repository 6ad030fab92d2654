/** Seals: what opens them and what does not. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createKeyRing } from "../../../src/server/input/seal.js"

const secret = (seed: number): Uint8Array => new Uint8Array(32).fill(seed)
const draw = (): Uint8Array => secret(99)
const text = JSON.stringify({ flow: "x", answers: { q1: "ä€😀" } })

describe("a seal", () => {
  it("gives back the text that was sealed, whatever it is", async () => {
    const ring = createKeyRing([secret(1)], draw)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (value) => {
        expect(await ring.open("requestState v1", await ring.seal("requestState v1", value))).toEqual({
          ok: true,
          text: value,
        })
      }),
      { numRuns: 50 },
    )
  })

  it("shows nothing of the text, and is never the same twice", async () => {
    const ring = createKeyRing([secret(1)], draw)
    const [one, two] = [await ring.seal("requestState v1", text), await ring.seal("requestState v1", text)]
    expect(one).not.toBe(two)
    expect(one).toMatch(/^1\.[\w-]{8}\.[\w-]+$/)
    expect(one).not.toContain("flow")
  })

  it("is not opened when any byte of it has changed", async () => {
    const ring = createKeyRing([secret(1)], draw)
    const sealed = await ring.seal("requestState v1", text)
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A"
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
      expect((await ring.open("requestState v1", changed)).ok, `byte ${at}`).toBe(false)
    }
  })

  it("is not opened when it was cut, made longer, or is something else", async () => {
    const ring = createKeyRing([secret(1)], draw)
    const sealed = await ring.seal("requestState v1", text)
    const broken = ["", ".", "..", "1", "1..", "a.b.c", `${sealed}A`, `${sealed}.`, `.${sealed}`, `${sealed}-TAMPERED`]
    for (let length = 0; length < sealed.length; length++) broken.push(sealed.slice(0, length))
    for (const one of broken) expect((await ring.open("requestState v1", one)).ok, one).toBe(false)
  })

  it("is not opened for another purpose", async () => {
    const ring = createKeyRing([secret(1)], draw)
    expect(await ring.open("event v1", await ring.seal("requestState v1", text))).toEqual({
      ok: false,
      cause: "tampered",
    })
  })

  it("never fails on what anybody makes up", async () => {
    const ring = createKeyRing([secret(1)], draw)
    const parts = fc.array(fc.oneof(fc.constantFrom("1", "2", ""), fc.base64String(), fc.string()), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(parts, async (made) => {
        expect((await ring.open("requestState v1", made.join("."))).ok).toBe(false)
      }),
    )
  })
})

describe("a ring of keys", () => {
  it("seals with the first key and opens with all of them", async () => {
    const before = createKeyRing([secret(1)], draw)
    const during = createKeyRing([secret(2), secret(1)], draw)
    const after = createKeyRing([secret(2)], draw)
    const old = await before.seal("requestState v1", text)
    const renewed = await during.seal("requestState v1", text)
    expect((await during.open("requestState v1", old)).ok).toBe(true)
    expect((await after.open("requestState v1", renewed)).ok).toBe(true)
    expect(await after.open("requestState v1", old)).toEqual({ ok: false, cause: "unknown_key" })
    expect(await before.open("requestState v1", renewed)).toEqual({ ok: false, cause: "unknown_key" })
  })

  it("takes texts and bytes alike", async () => {
    const word = "a secret that is thirty-two bytes"
    const one = createKeyRing([word], draw)
    const two = createKeyRing([new TextEncoder().encode(word)], draw)
    expect((await two.open("requestState v1", await one.seal("requestState v1", text))).ok).toBe(true)
  })

  it.each<[what: string, short: string | Uint8Array]>([
    ["an empty text", ""],
    ["31 bytes", new Uint8Array(31)],
    ["31 characters", "x".repeat(31)],
  ])("refuses %s as a secret, and does not repeat it", (_, short) => {
    const make = (): unknown => createKeyRing([secret(1), short], draw)
    expect(make).toThrow(expect.objectContaining({ kind: "misuse", reason: "invalid_option" }) as Error)
    expect(make).toThrow(/secrets\[1\] has \d+ bytes; at least 32/)
  })

  it("counts bytes, not characters", () => {
    expect(() => createKeyRing(["ä".repeat(16)], draw)).not.toThrow()
  })

  it("draws a key when something is sealed, and not before", async () => {
    let drawn = 0
    const ring = createKeyRing([], () => {
      drawn++
      return secret(1)
    })
    expect((await ring.open("requestState v1", "1.AAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).ok).toBe(false)
    expect(drawn).toBe(0)
    const sealed = await ring.seal("requestState v1", text)
    expect((await ring.open("requestState v1", sealed)).ok).toBe(true)
    await ring.seal("requestState v1", text)
    expect(drawn).toBe(1)
  })
})
