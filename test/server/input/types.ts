/** What the types of asking promise. This file is only compiled: each line is right when the compiler accepts it. */
import { type Elicited, inputRequired, type Jsonify, type JsonValue, prompt, resource, tool } from "conduit-mcp"
import { z } from "zod"

/** Compiles only for `true`. */
type Expect<T extends true> = T
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** What JSON gives back. */
export type Json = [
  Expect<IsSame<Jsonify<string>, string>>,
  Expect<IsSame<Jsonify<undefined>, undefined>>,
  Expect<IsSame<Jsonify<"a" | 5 | null>, "a" | 5 | null>>,
  Expect<IsSame<Jsonify<Date>, string>>,
  Expect<IsSame<Jsonify<{ at: Date; more?: number }>, { at: string; more?: number }>>,
  Expect<IsSame<Jsonify<readonly Date[]>, readonly string[]>>,
  Expect<IsSame<Jsonify<bigint>, never>>,
  Expect<IsSame<Jsonify<unknown>, unknown>>,
  Expect<IsSame<Jsonify<JsonValue>, JsonValue>>,
]

/** Answers are typed by their schemas, and narrowed by the action. */
export const asks = tool("asks", {}, async (_, ctx) => {
  const answer = await ctx.elicit("When?", z.object({ day: z.string().transform((day) => new Date(day)) }))
  type Answer = Expect<IsSame<typeof answer, Elicited<{ day: Date }>>>
  const nothing = await ctx.once("nothing", () => {})
  type Nothing = Expect<IsSame<typeof nothing, void>>
  const at = await ctx.once("at", async () => ({ at: new Date() }))
  const checked: [Answer, Nothing] = [true, true]
  if (answer.action === "accept") return `${answer.content.day.getTime()} ${at.at.slice(0, 4)} ${checked.length}`
  return answer.content === undefined ? "declined" : "never"
})

/** Every handler may return its questions, one with an output schema too. */
export const byHand = [
  tool("by hand", { output: z.object({ a: z.string() }) }, (_, ctx) =>
    ctx.state === undefined ? inputRequired({ state: 1 }) : { a: "done" },
  ),
  prompt("by hand", {}, () => inputRequired({ requests: { roots: { method: "roots/list" } } })),
  resource("test://by-hand", { name: "by hand" }, () => inputRequired({ state: [1] })),
]

// @ts-expect-error "There is no such method".
inputRequired({ requests: { a: { method: "tools/list" } } })

// @ts-expect-error A page has a URL.
inputRequired({ requests: { a: { method: "elicitation/create", params: { mode: "url", message: "Go" } } } })
