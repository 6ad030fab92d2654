/** How a value is written into an `Mcp-*` header and read back. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decodeHeaderValue, encodeHeaderValue } from "../../../src/core/http/header.js"

describe("a header value", () => {
  it.each([
    ["us-west1", "us-west1"],
    ["us west 1", "us west 1"],
    ["in\tside", "in\tside"],
    ["file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"],
    ["", ""],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    ["日本語", "=?base64?5pel5pys6Kqe?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    [" us-west1", "=?base64?IHVzLXdlc3Qx?="],
    ["us-west1 ", "=?base64?dXMtd2VzdDEg?="],
    ["\tindented", "=?base64?CWluZGVudGVk?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ])("carries %j as %j", (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value)
    expect(decodeHeaderValue(value)).toBe(text)
  })

  it.each([
    ["marked and padded", "=?base64?SGVsbG8=?=", "Hello"],
    ["marked, of a plain text", "=?base64?dXM=?=", "us"],
    ["marked, of nothing", "=?base64??=", ""],
    ["without the prefix", "SGVsbG8=", "SGVsbG8="],
    ["without the suffix", "=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["with a marker in upper case", "=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="],
    ["between spaces and tabs", " \t get_weather\t ", "get_weather"],
    ["of spaces only", " \t ", ""],
    ["marked, between spaces", "  =?base64?SGVsbG8=?= ", "Hello"],
    ["with a byte order mark in it", "=?base64?77u/eA==?=", "\ufeffx"],
  ])("%s is read as it should be", (_, value, text) => {
    expect(decodeHeaderValue(value)).toBe(text)
  })

  it.each([
    ["missing base64 padding", "=?base64?SGVsbG8?="],
    ["characters outside the base64 alphabet", "=?base64?SGVs!!!bG8=?="],
    ["base64 with trailing bits", "=?base64?SGVsbG9=?="],
    ["markers that overlap", "=?base64?="],
    ["an overlong UTF-8 form", "=?base64?wIA=?="],
    ["bytes that are no UTF-8", "=?base64?//4=?="],
    ["half a surrogate pair in UTF-8", "=?base64?7aCA?="],
    ["a line break", "a\r\nSet-Cookie: b"],
    ["NUL", "a\0b"],
    ["DEL", "a\x7f"],
    ["Latin-1", "Région"],
  ])("%s is refused", (_, value) => {
    expect(decodeHeaderValue(value)).toBeUndefined()
  })

  it("gives every well-formed text back, in characters that a header may hold", () => {
    const texts = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."=?base64 \t\n") }),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const value = encodeHeaderValue(text)
        expect(value).toMatch(/^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/)
        expect(decodeHeaderValue(value)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  it("is never an exception, whatever a peer sends", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        decodeHeaderValue(value)
        decodeHeaderValue(`=?base64?${value}?=`)
      }),
    )
    expect(encodeHeaderValue("\ud800")).toBe("=?base64?77+9?=")
  })
})
