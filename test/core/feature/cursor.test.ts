/** Cursors come back to their list, and to no other. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decodeCursor, encodeCursor } from "../../../src/core/feature/cursor.js"
import { encodeBase64Url } from "../../../src/core/http/base64.js"

const bytes = (...values: number[]) => encodeBase64Url(Uint8Array.from(values))

describe("a cursor", () => {
  it("gives the last entry back to its own list", () => {
    const list = fc.string({ unit: "grapheme" }).filter((name) => !name.includes("\0"))
    fc.assert(
      fc.property(list, fc.string({ unit: "binary" }), list, (name, last, other) => {
        const cursor = encodeCursor(name, last)
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(decodeCursor(cursor, name)).toBe(last)
        if (other !== name) expect(decodeCursor(cursor, other)).toBeUndefined()
      }),
    )
  })

  it.each([
    ["nothing", ""],
    ["some text", "bogus"],
    ["a page number", "2"],
    ["the base64 of JSON", "eyJwYWdlIjogMn0="],
    ["characters that mean something elsewhere", "tools:*\n"],
    ["another version", bytes(2, 116, 0, 97)],
    ["no entry", bytes(1, 116)],
    ["a version alone", bytes(1)],
    ["a list that is no UTF-8", bytes(1, 0xff, 0, 97)],
    ["an entry that is no UTF-8", bytes(1, 116, 0, 0xff)],
    ["padding", `${bytes(1, 116, 0, 97, 98)}=`],
    ["a line break at its end", `${bytes(1, 116, 0, 97, 98)}\n`],
  ])("that is %s belongs to no list", (_, cursor) => {
    expect(decodeCursor(cursor, "t")).toBeUndefined()
  })

  it("whose text was changed anywhere is not the same cursor", () => {
    const cursor = encodeCursor("tools", "get_weather")
    for (let at = 0; at < cursor.length; at += 1) {
      const changed = `${cursor.slice(0, at)}${cursor[at] === "A" ? "B" : "A"}${cursor.slice(at + 1)}`
      expect(decodeCursor(changed, "tools")).not.toBe("get_weather")
    }
  })

  it("is never an exception, whatever a peer sends", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (cursor) => void decodeCursor(cursor, "tools")))
  })
})
