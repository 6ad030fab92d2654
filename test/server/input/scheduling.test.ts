/** When a round is sent: one macrotask after its last question, by the scheduler that is given. */
import { describe, expect, it } from "vitest"
import type { Claims } from "../../../src/server/input/claim.js"
import type { Outcome } from "../../../src/server/input/outcome.js"
import type { Question } from "../../../src/server/input/question.js"
import { Replay, type RoundAnswer } from "../../../src/server/input/replay.js"

const claims: Claims = { run: ((_: string, step: () => Promise<Outcome>) => step()) as Claims["run"] }

const question = (text: string): Question<string> => ({
  method: "elicitation/create",
  params: { text },
  capability: "elicitation.form",
  accept: () => ({ ok: true, value: text }),
})

function scheduled() {
  const tasks: (() => void)[] = []
  const sent: RoundAnswer[] = []
  const host = {
    require() {},
    defer: (task: () => void) => void tasks.push(task),
    suspend: (_: Error, answer: RoundAnswer | Error) => {
      if (!(answer instanceof Error)) sent.push(answer)
    },
    report() {},
  }
  const replay = new Replay(host, claims, { state: undefined, responses: undefined })
  return {
    replay,
    sent,
    tasks,
    ask: (key: string) => void replay.ask(key, () => question(key)),
    /** Runs what was deferred until now, in order, as one macrotask each would. */
    turn: () => {
      for (const task of tasks.splice(0)) task()
    },
  }
}

/** Waits until `count` tasks are deferred. */
async function deferred({ tasks }: { readonly tasks: readonly unknown[] }, count: number): Promise<void> {
  await expect.poll(() => tasks.length).toBe(count)
}

const keysOf = (sent: readonly RoundAnswer[]): readonly (readonly string[])[] =>
  sent.map(({ requests }) => Object.keys(requests))

describe("a round", () => {
  it("is sent one turn after the last question", async () => {
    const run = scheduled()
    run.ask("a")
    await deferred(run, 1)
    expect(run.sent).toEqual([])
    run.ask("b")
    run.turn()
    expect(run.sent).toEqual([])
    await deferred(run, 1)
    run.turn()
    expect(keysOf(run.sent)).toEqual([["a", "b"]])
  })

  it("is sent once", async () => {
    const run = scheduled()
    run.ask("a")
    run.ask("b")
    await deferred(run, 2)
    run.turn()
    run.turn()
    expect(run.sent).toHaveLength(1)
  })

  it("waits for a step that started after its question, and one turn more", async () => {
    const run = scheduled()
    let finish: (outcome: Outcome) => void = () => {}
    run.ask("a")
    await deferred(run, 1)
    const step = run.replay.once("step", () => new Promise((resolve) => (finish = resolve)))
    run.turn()
    expect(run.sent).toEqual([])
    await expect.poll(() => String(finish)).toContain("native code")
    finish({ value: 5 })
    await step
    await deferred(run, 1)
    expect(run.sent).toEqual([])
    run.turn()
    expect(run.sent.map(({ state }) => state.once)).toEqual([{ step: { value: 5 } }])
  })

  it("is not sent when the call has ended before", async () => {
    const run = scheduled()
    run.ask("a")
    await deferred(run, 1)
    run.replay.end()
    run.turn()
    expect(run.sent).toEqual([])
  })
})
