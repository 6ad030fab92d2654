/** The ends of a message that cannot be read: they name the right request, or none. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { glimpse } from "../../../src/core/wire/glimpse.js"
import { endsOf, KEPT_BYTES } from "../../../src/core/wire/lines.js"

const look = (text: string) => glimpse(endsOf(new TextEncoder().encode(text)))
const long = "x".repeat(3 * KEPT_BYTES)

describe("a glimpse of a message", () => {
  it.each<[string, string, string | number | undefined]>([
    ["a number", '{"jsonrpc":"2.0","id":12,"result":{}}', 12],
    ["a text", '{"id":"a\\"b","result":{}}', 'a"b'],
    ["an empty text", '{"id":"","result":{}}', ""],
    ["zero", '{"result":{},"id":0}', 0],
    ["an escaped name", '{"\\u0069d":7}', 7],
    ["space everywhere", ' \t{ "result" : { } , "id" : 7 } \r', 7],
    ["a byte order mark before it", '\ufeff{"id":7}', 7],
    ["at the end of a long message", `{"result":"${long}","id":7}`, 7],
    ["at the end, behind quotes and backslashes", `{"result":"${long}\\\\\\"}{","id":7,"b":"\\\\"}`, 7],
    ["at the beginning of one that is cut off", `{"id":7,"result":{"a":"${long}`, 7],
    ["nothing, when it is further in", '{"result":{"id":7}}', undefined],
    ["nothing, when it is further in, near the end", `{"result":[{"a":"${long}"},{"id":7}]}`, undefined],
    ["nothing, when it is the middle", `{"a":"${long}","id":7,"b":"${long}"}`, undefined],
    ["nothing, when it is within a text", `{"a":"${long}\\",\\"id\\":7,\\"b\\":\\"","c":1}`, undefined],
    ["nothing, when it is null", '{"id":null}', undefined],
    ["nothing, when it is a fraction", '{"id":1.5}', undefined],
    ["nothing, when it is cut off", `{"a":"${"x".repeat(KEPT_BYTES - 14)}","id":12345,"b":"${long}"}`, undefined],
    ["nothing, when it is no object", '[{"id":7}]', undefined],
    ["nothing, when text stands before it", 'log {"id":7}', undefined],
    ["nothing, when there is nothing", "", undefined],
  ])("finds %s", (_, text, id) => {
    expect(look(text).id).toBe(id)
  })

  it("names the members at both ends, and none further in", () => {
    const text = `{"jsonrpc":"2.0","result":{"inner":"${long}","hidden":[{"deep":1}]},"id":1,"extra":{"x":[]}}`
    expect(look(text)).toEqual({ isObject: true, names: new Set(["jsonrpc", "result", "id", "extra"]), id: 1 })
  })

  it("never names another id than that of the message", () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const members = fc.array(fc.tuple(fc.oneof(fc.constantFrom("a", "result", "params"), fc.string()), value))
    fc.assert(
      fc.property(
        members,
        members,
        fc.oneof(fc.integer(), fc.string({ maxLength: 20 })),
        fc.nat(4_000),
        (before, after, id, filling) => {
          const filler: [string, unknown] = ["filler", { text: '"id":1,\\'.repeat(filling / 8) }]
          const all = [...before, filler, ["id", id], ...after].filter(
            ([name], at) => name !== "id" || at === before.length + 1,
          )
          const text = `{${all.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(",")}}`
          expect([id, undefined]).toContain(look(text).id)
          if (text.length <= KEPT_BYTES) expect(look(text).id).toBe(id)
        },
      ),
      { numRuns: 500 },
    )
  })

  it("takes any bytes without failing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (head, tail) => {
        glimpse({ head, tail })
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "1") }), (text) => {
        look(`{${text}`)
        look(`${text}}`)
      }),
      { numRuns: 1_000 },
    )
  })
})
