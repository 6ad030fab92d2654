/** Which bodies count as JSON, and which kinds of answer an `Accept` header allows. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Accepts, decideAccept, isJsonMedia, mediaType } from "../../../src/core/http/media.js"

describe("a content type", () => {
  it.each([
    ["application/json", "application/json"],
    ["Application/JSON; charset=utf-8", "application/json"],
    ["  text/plain ;a=application/json", "text/plain"],
    ["", ""],
  ])("%j is of type %j", (value, type) => {
    expect(mediaType(value)).toBe(type)
  })

  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    'application/json; charset="utf\\-8"',
    "application/json; charset=utf8",
    "application/json; profile=x; version=1",
    "application/json;",
    " application/json ; a=b ",
    'application/json; note="charset=utf-16; text/plain, x"',
  ])("%j is JSON", (value) => {
    expect(isJsonMedia(value)).toBe(true)
    expect(isJsonMedia(value)).toBe(true)
  })

  it.each([
    undefined,
    "",
    "text/plain",
    "text/plain; a=application/json",
    "application/jsonp",
    "application/json-seq",
    "application/problem+json",
    "application",
    "json",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/json; CHARSET=utf-16",
    "application/json; charset=utf-8; charset=utf-16",
    "application/json, text/plain",
    "text/plain, application/json",
    "multipart/form-data; boundary=application/json",
  ])("%j is not JSON", (value) => {
    expect(isJsonMedia(value)).toBe(false)
  })
})

describe("an Accept header", () => {
  it.each<[string | undefined, keyof typeof Accepts]>([
    [undefined, "both"],
    ["", "both"],
    ["*/*", "both"],
    ["application/json, text/event-stream", "both"],
    ["text/event-stream,application/json", "both"],
    ["TEXT/Event-Stream, Application/JSON", "both"],
    ["application/*, text/*", "both"],
    ["text/html, */*;q=0.1", "both"],
    ["application/json", "json"],
    ["application/json;q=0.5", "json"],
    ["application/json; charset=utf-8", "json"],
    ["application/*", "json"],
    ["text/html, application/json", "json"],
    ["text/event-stream", "stream"],
    ["text/*", "stream"],
    ["text/*;q=0.001", "stream"],
    ["application/json, text/event-stream;q=0", "json"],
    ["application/json, text/event-stream; Q=0.000", "json"],
    ["application/json;q=0, */*", "stream"],
    ["*/*, application/json;q=0.0", "stream"],
    ["application/*;q=0, application/json", "json"],
    ["application/json;q=0, application/*", "none"],
    ["text/event-stream;q=0, text/*, application/json;q=1", "json"],
    ["*/*;q=0", "none"],
    ["*/*;q=0, application/json", "json"],
    ["text/html", "none"],
    ["application/jsonp, text/event-streams", "none"],
    ['text/html; x="application/json, text/event-stream"', "none"],
    ['text/html; x="\\"", text/event-stream', "stream"],
  ])("%j allows %s", (value, expected) => {
    expect(decideAccept(value)).toBe(Accepts[expected])
    expect(decideAccept(value)).toBe(Accepts[expected])
  })

  it("is decided for any text, long ones and odd ones too", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a/*;,q=0."\\ '), maxLength: 600 }), (value) => {
        expect([0, 1, 2, 3]).toContain(decideAccept(value))
        isJsonMedia(value)
      }),
    )
  })

  it("is decided the same after more values than are remembered", () => {
    for (let index = 0; index < 1000; index += 1) expect(decideAccept(`a/${index}, text/*`)).toBe(Accepts.stream)
    expect(decideAccept("a/0, text/*")).toBe(Accepts.stream)
  })
})
