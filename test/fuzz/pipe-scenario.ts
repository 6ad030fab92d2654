/** Messages of both eras on one pipe, many at once; and the account of what is owed for them and what came. */
import fc from "fast-check"
import type { Tally } from "./budget.js"
import { oddTree, type Tree, toText, toTree } from "./json-text.js"
import { assert, type Due, describe, dueFor, type Json, judgeAnswer, judgeMessage, reasonOf } from "./judge.js"
import { anyDraft, type Draft, type EraName, initializeParams, toBytes } from "./messages.js"
import { createPeer, fill, Handles, type Peer } from "./peer.js"
import type { PipeEnd } from "./pipe-door.js"
import { nextRound } from "./rounds.js"
import { LIMITS } from "./target.js"

/** What is sent on one pipe. */
export interface PipeScript {
  readonly opens: boolean
  readonly drafts: readonly Draft[]
  /** Where the bytes of each message are cut in two. */
  readonly cuts: readonly number[]
  readonly replies: readonly Tree[]
  readonly tamper: number | undefined
}

/** Any messages of both eras. */
export const anyPipeScript: fc.Arbitrary<PipeScript> = fc.record({
  opens: fc.boolean(),
  drafts: fc.array(fc.constantFrom<EraName>("modern", "legacy").chain(anyDraft), { minLength: 1, maxLength: 12 }),
  cuts: fc.array(fc.nat({ max: 5_000 }), { minLength: 12, maxLength: 12 }),
  replies: fc.oneof(fc.constant([]), fc.array(oddTree, { maxLength: 3 })),
  tamper: fc.option(fc.nat({ max: 2_000 }), { nil: undefined, freq: 2 }),
})

const SETTLE_MS = 10_000

/** A pipe, and what is known of it from one script to the next. */
export interface PipePlace {
  readonly end: PipeEnd
  readonly tally: Tally
  readonly peer: Peer
  /** How many answers to requests that were cancelled may still come, by id. */
  readonly late: Map<string, number>
}

/** A pipe on which nothing was said yet. */
export function createPipePlace(end: PipeEnd, tally: Tally): PipePlace {
  return { end, tally, peer: createPeer(), late: new Map() }
}

/** Sends everything at once, answers what is asked, and fails unless all that is owed comes and nothing else. */
export async function playPipe(place: PipePlace, script: PipeScript): Promise<void> {
  await new PipePlayer(place, script).play()
}

let sentinels = 0

class PipePlayer {
  readonly #end: PipeEnd
  readonly #script: PipeScript
  readonly #tally: Tally
  readonly #peer: Peer
  readonly #handles = new Handles()
  readonly #account: Account
  #rounds = 0
  #answered = 0
  #broken: unknown
  #wake: () => void = () => {}

  constructor({ end, tally, peer, late }: PipePlace, script: PipeScript) {
    this.#end = end
    this.#script = script
    this.#tally = tally
    this.#peer = peer
    this.#account = new Account(late)
  }

  async play(): Promise<void> {
    const stop = this.#end.onMessage((text) => {
      try {
        this.#hear(text)
      } catch (error) {
        this.#broken ??= error
      }
      this.#wake()
    })
    await this.#talk().finally(stop)
  }

  async #talk(): Promise<void> {
    if (this.#script.opens) {
      this.#sendJson({ jsonrpc: "2.0", id: "open", method: "initialize", params: initializeParams("2025-11-25") })
    }
    for (const [index, { text, damage }] of this.#script.drafts.entries()) {
      this.#send(toBytes(fill(text, this.#peer, this.#handles), damage), this.#script.cuts[index] ?? 0)
    }
    const sentinel = `sentinel-${++sentinels}`
    this.#sendJson({ jsonrpc: "2.0", id: sentinel, method: "ping", params: {} })
    await this.#until(() => this.#account.has(sentinel))
    for (const requestId of this.#account.listens) {
      this.#sendJson({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })
    }
    await this.#until(() => this.#account.isSettled)
    this.#account.close()
  }

  #sendJson(message: Json): void {
    this.#send(Buffer.from(JSON.stringify(message)), 1)
  }

  #send(bytes: Uint8Array, cut: number): void {
    for (const message of this.#end.send(bytes, cut)) this.#account.owe(message)
  }

  #hear(text: string): void {
    const message = JSON.parse(text) as Json
    judgeMessage(message, this.#peer)
    this.#tally.add(describe(message))
    const { method, id } = message
    if (typeof method === "string") return id === undefined ? undefined : this.#answer(id)
    const due = this.#account.take(message)
    if (due !== undefined) this.#goOn(due.message, message)
  }

  /** Answers a question of the legacy era: at first with anything, then so that nothing stays open. */
  #answer(id: unknown): void {
    const { replies } = this.#script
    const odd = replies[this.#answered++ % Math.max(1, replies.length)]
    if (odd !== undefined) {
      const tree: Tree = [
        ["jsonrpc", '"2.0"'],
        ["id", toTree(id)],
        ["result", odd],
      ]
      this.#send(Buffer.from(fill(toText(tree), this.#peer, this.#handles)), 0)
    }
    this.#sendJson({ jsonrpc: "2.0", id, result: { action: "cancel" } })
    this.#sendJson({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } })
  }

  /** Goes on with a call of the modern era that asks, a few times in all. */
  #goOn(message: Json, answer: Json): void {
    const odd = this.#script.replies[this.#rounds]
    const next = this.#rounds > 20 ? undefined : nextRound(message, answer, odd, this.#script.tamper)
    if (next === undefined) return
    this.#rounds++
    this.#send(Buffer.from(fill(toText(next.tree), this.#peer, this.#handles)), 0)
  }

  async #until(holds: () => boolean): Promise<void> {
    const late = Date.now() + SETTLE_MS
    while (!holds() && this.#broken === undefined) {
      if (Date.now() > late) throw new Error(`not so: every request is answered in time\n${this.#account}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    if (this.#broken !== undefined) throw this.#broken
  }
}

/** What is owed on a pipe, by id, and what came. */
class Account {
  readonly #owed = new Map<string, Extract<Due, { kind: "answer" }>[]>()
  readonly #came = new Map<string, number>()
  /** Ids of requests that somebody cancelled. */
  readonly #cancelled = new Set<string>()
  #refusals = 0
  #withoutId = 0
  readonly #late: Map<string, number>

  constructor(late: Map<string, number>) {
    this.#late = late
  }

  owe(bytes: Uint8Array): void {
    const due = dueFor(bytes)
    if (bytes.length > LIMITS.maxLineBytes) this.#refusals++
    else if (due.kind === "answer") {
      const key = keyOf(due.id)
      this.#owed.set(key, [...(this.#owed.get(key) ?? []), due])
    } else if (due.kind === "nothing") this.#oweNothing(due.message)
    else this.#refusals++
  }

  #oweNothing({ method, params }: Json): void {
    const cancelled = (params as Json | undefined)?.["requestId"]
    if (method !== "notifications/cancelled") return
    if (typeof cancelled === "string" || typeof cancelled === "number") this.#cancelled.add(keyOf(cancelled))
  }

  /** Notes an answer. Fails when nothing is owed for it. Answers the request that it may be to, when there is one of its id. */
  take(answer: Json): Extract<Due, { kind: "answer" }> | undefined {
    const { id } = answer
    if (id === undefined) {
      judgeAnswer({ kind: "refusal" }, answer, undefined)
      this.#withoutId++
      return undefined
    }
    const key = keyOf(id as string | number)
    const owed = this.#owed.get(key) ?? []
    const came = (this.#came.get(key) ?? 0) + 1
    const late = this.#late.get(key) ?? 0
    if (came > owed.length && late > 0) {
      this.#late.set(key, late - 1)
      return undefined
    }
    this.#came.set(key, came)
    assert(came <= owed.length, "a request has one answer", answer)
    const isFree = owed.length === 1 && late === 0
    assert(!(isFree && reasonOf(answer) === "duplicate_request_id"), "an id that was answered is free again", answer)
    const [only] = owed
    if (only === undefined || owed.length > 1) return undefined
    judgeAnswer(only, answer, undefined)
    return only
  }

  has(id: string): boolean {
    return this.#came.has(keyOf(id))
  }

  /** The ids of streams that may be open. */
  get listens(): readonly (string | number)[] {
    const all = [...this.#owed.values()].flat()
    return all.filter(({ message }) => message["method"] === "subscriptions/listen").map(({ id }) => id)
  }

  /** Whether all is there that has to come. */
  get isSettled(): boolean {
    for (const [key, owed] of this.#owed) {
      if (!this.#cancelled.has(key) && owed.length > (this.#came.get(key) ?? 0)) return false
    }
    return this.#refusals <= this.#withoutId
  }

  /** Fails when more came than was owed. */
  close(): void {
    assert(this.#withoutId === this.#refusals, "no error comes without a reason", `${this}`)
    for (const key of this.#cancelled) {
      const missing = (this.#owed.get(key)?.length ?? 0) - (this.#came.get(key) ?? 0)
      if (missing > 0) this.#late.set(key, (this.#late.get(key) ?? 0) + missing)
    }
  }

  toString(): string {
    const open = [...this.#owed].filter(([key, owed]) => owed.length > (this.#came.get(key) ?? 0))
    return JSON.stringify({
      open: open.map(([key, owed]) => [key, owed.map(({ message }) => methodOf(message))]),
      refusals: this.#refusals,
      withoutId: this.#withoutId,
    })
  }
}

function methodOf({ method }: Json): string {
  return typeof method === "string" ? method.slice(0, 40) : typeof method
}

/** Ids are compared with their types. */
function keyOf(id: string | number): string {
  return JSON.stringify(id === 0 ? 0 : id)
}
