/** Which question is which: keys on the wire. */
import { McpError } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { createKeySequence } from "../../../src/server/input/key.js"

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function failing(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

describe("the keys of questions", () => {
  it("are q1, q2, q3 in order of asking", () => {
    const keys = createKeySequence()
    expect([keys.next(undefined), keys.next(undefined), keys.next(undefined)]).toEqual(["q1", "q2", "q3"])
  })

  it("are those that were chosen, numbered when one is used again", () => {
    const keys = createKeySequence()
    expect([keys.next("date"), keys.next("date"), keys.next("time"), keys.next("date")]).toEqual([
      "date",
      "date#2",
      "time",
      "date#3",
    ])
  })

  it("do not count those that were chosen", () => {
    const keys = createKeySequence()
    expect([keys.next("a"), keys.next(undefined), keys.next("b"), keys.next(undefined)]).toEqual(["a", "q1", "b", "q2"])
  })

  it.each<[what: string, chosen: readonly (string | undefined)[]]>([
    ["q1 first", ["q1", undefined]],
    ["q1 later", [undefined, "q1"]],
    ["a#2 first", ["a#2", "a", "a"]],
    ["a#2 later", ["a", "a", "a#2"]],
  ])("are never the same twice, when somebody chooses %s", (_, chosen) => {
    const keys = createKeySequence()
    const given = chosen.map((key) => keys.next(key))
    expect(new Set(given).size).toBe(chosen.length)
  })

  it.each<[what: string, key: unknown]>([
    ["empty", ""],
    ["__proto__, which no message may hold", "__proto__"],
    ["not a text", 5],
  ])("cannot be %s", (_, key) => {
    const error = failing(() => createKeySequence().next(key as string))
    expect(error).toMatchObject({ kind: "misuse", reason: "invalid_option" })
  })
})

describe("a question without a key of its own", () => {
  it("may be asked beside others in the same turn", () => {
    const keys = createKeySequence()
    keys.open(keys.next(undefined))
    keys.open(keys.next("chosen"))
    expect(keys.next(undefined)).toBe("q2")
  })

  it("may be asked when none is open", async () => {
    const keys = createKeySequence()
    const first = keys.next(undefined)
    keys.open(first)
    await nextTurn()
    keys.close(first)
    expect(keys.next(undefined)).toBe("q2")
  })

  it.each<[what: string, key: string | undefined]>([
    ["without a key", undefined],
    ["with a key", "chosen"],
  ])("is a misuse while one %s is open since an earlier turn", async (_, key) => {
    const keys = createKeySequence()
    keys.open(keys.next(key))
    await nextTurn()
    const error = failing(() => keys.next(undefined))
    expect(McpError.is(error, "misuse")).toBe(true)
    expect(error).toMatchObject({ reason: "ambiguous_question", message: expect.stringContaining("{ key:") })
    expect(keys.next("other")).toBe("other")
  })

  it("is a misuse after a single microtask already", async () => {
    const keys = createKeySequence()
    keys.open(keys.next(undefined))
    await undefined
    await undefined
    expect(failing(() => keys.next(undefined))).toMatchObject({ reason: "ambiguous_question" })
  })
})
