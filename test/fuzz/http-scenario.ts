/** Peers that send to one server over HTTP at the same time, each by itself in turn; and what has to hold of each answer. */
import fc from "fast-check"
import type { Tally } from "./budget.js"
import type { HttpDoor, HttpReply } from "./http-door.js"
import { judgeReply, messagesOf, readEvents } from "./http-judge.js"
import { anyHttpShot, type HttpRequest, type HttpShot, rightHeaders, toHttpRequest } from "./http-request.js"
import { oddTree, type Tree, toText, toTree } from "./json-text.js"
import { assert, type Due, describe, dueFor, type Json, reasonOf } from "./judge.js"
import { type Draft, type EraName, initializeParams } from "./messages.js"
import { createPeer, fill, type Handles, type Peer } from "./peer.js"
import { nextRound } from "./rounds.js"

/** What one peer does. */
export interface Script {
  readonly era: EraName
  readonly version: string
  readonly shots: readonly HttpShot[]
  /** What it says to questions at first, before it answers them in order. */
  readonly replies: readonly Tree[]
  /** Which character of a state it changes; undefined when none. */
  readonly tamper: number | undefined
}

/** How long an answer may take. What a server holds open on purpose is left before. */
const ANSWER_MS = 10_000
/** How long a stream that may stay open has to be quiet before its client leaves. */
const QUIET_MS = 15

/** A few peers of any era. */
export const anyScripts: fc.Arbitrary<readonly Script[]> = fc.array(
  fc.constantFrom<EraName>("modern", "legacy").chain((era) =>
    fc.record({
      era: fc.constant(era),
      version: fc.constantFrom("2025-11-25", "2025-06-18"),
      shots: fc.array(anyHttpShot(era), { minLength: 1, maxLength: 6 }),
      replies: fc.oneof(fc.constant([]), fc.array(oddTree, { maxLength: 3 })),
      tamper: fc.option(fc.nat({ max: 2_000 }), { nil: undefined, freq: 2 }),
    }),
  ),
  { minLength: 1, maxLength: 4 },
)

/** Plays all scripts at once. Fails when anything that comes back breaks a rule. */
export async function play(place: Place, scripts: readonly Script[]): Promise<void> {
  await Promise.all(scripts.map((script) => new Player(place, script).play()))
}

/** Where scripts are played, and what is known there. */
export interface Place {
  readonly door: HttpDoor
  readonly handles: Handles
  readonly tally: Tally
}

class Player {
  readonly #door: HttpDoor
  readonly #script: Script
  readonly #handles: Handles
  readonly #tally: Tally
  readonly #peer: Peer = createPeer()
  readonly #asides: Promise<unknown>[] = []
  #session: string | undefined
  #answered = 0
  #broken: unknown

  constructor({ door, handles, tally }: Place, script: Script) {
    this.#door = door
    this.#script = script
    this.#handles = handles
    this.#tally = tally
  }

  async play(): Promise<void> {
    if (this.#script.era === "legacy") await this.#open()
    for (const shot of this.#script.shots) await this.#fire(shot)
    await Promise.all(this.#asides)
    if (this.#broken !== undefined) throw this.#broken
  }

  async #open(): Promise<void> {
    const params = initializeParams(this.#script.version)
    const reply = await this.#post({ jsonrpc: "2.0", id: 0, method: "initialize", params })
    this.#session = reply?.headers.find(([name]) => name.toLowerCase() === "mcp-session-id")?.[1]
    if (this.#session !== undefined) this.#handles.addSession(this.#session, this.#peer)
  }

  /** Sends a message as it should be sent, and judges what comes back. */
  async #post(message: Json): Promise<HttpReply | undefined> {
    const sent = Buffer.from(JSON.stringify(message))
    const headers = rightHeaders({ era: "legacy", method: "", name: undefined }, this.#peer, this.#session)
    headers.push(["content-length", String(sent.length)])
    const request = { method: "POST", path: "/mcp", headers, chunks: [sent], breaks: false }
    const reply = await inTime(
      this.#door.send(request, () => {}),
      request,
    )
    if (reply === undefined || reply === "unsendable") return undefined
    judgeReply(request, dueFor(sent), reply, this.#peer, false)
    return reply
  }

  async #fire(shot: HttpShot): Promise<void> {
    const { request, read } = toHttpRequest(shot, this.#peer, this.#handles, this.#session, this.#door.isFramed)
    const due: Due = read === undefined ? { kind: "unclear" } : dueFor(read)
    const stays = mayStay(shot, due)
    let quiet: NodeJS.Timeout | undefined
    let seen = 0
    const session = request.headers.findLast(([name]) => name.toLowerCase() === "mcp-session-id")?.[1]
    const done = this.#door.send(request, (reply, body, leave) => {
      const messages = messagesOf(reply, body, false)
      for (const message of messages.slice(seen)) this.#hear(message, session)
      seen = messages.length
      if (!stays) return
      clearTimeout(quiet)
      quiet = setTimeout(leave, QUIET_MS)
    })
    const reply = await inTime(done, request)
    clearTimeout(quiet)
    if (reply === "unsendable") return
    if (reply === undefined) return assert(mayBreak(shot), "an answer came before the connection ended", request)
    const messages = judgeReply(
      request,
      due,
      reply,
      this.#peer,
      this.#script.era === "legacy" || shot.headers.length > 0,
    )
    for (const message of messages) {
      this.#handles.collect(message)
      this.#tally.add(`${reply.status} ${describe(message)}`)
    }
    this.#keepEvents(reply, session)
    if (due.kind !== "nothing") this.#judgeSession(reply, request, session)
    const last = messages.at(-1)
    if (due.kind === "answer" && last !== undefined) await this.#goOn(shot, due.message, last, 1)
  }

  /** Sends a call again for as long as it asks: with any answers at first, with right ones in the end, and its state as it is or not. */
  async #goOn(shot: HttpShot, message: Json, answer: Json, round: number): Promise<void> {
    const next = nextRound(message, answer, round === 1 ? this.#script.replies[0] : undefined, this.#script.tamper)
    if (next === undefined || round > 5) return
    const sent = Buffer.from(fill(toText(next.tree), this.#peer, this.#handles))
    const { method, name } = shot.draft
    const named = {
      era: "modern",
      method,
      name: name === undefined ? undefined : fill(name, this.#peer, this.#handles),
    }
    const headers = rightHeaders(named as Draft, this.#peer, undefined)
    headers.push(["content-length", String(sent.length)])
    const request = { method: "POST", path: "/mcp", headers, chunks: [sent], breaks: false }
    const reply = await inTime(
      this.#door.send(request, () => {}),
      request,
    )
    if (reply === undefined || reply === "unsendable") return
    const due = dueFor(sent)
    const [last] = judgeReply(request, due, reply, this.#peer, false).slice(-1)
    if (last === undefined) return
    this.#tally.add(`round ${round + 1} ${describe(last)}`)
    if (due.kind !== "answer") return
    if (next.isTampered) assert(REFUSED_STATE.has(reasonOf(last)), "a state that was changed is refused", last)
    else await this.#goOn(shot, due.message, last, round + 1)
  }

  /** Answers a question of the legacy era: at first with anything, then so that nothing stays open. */
  #hear(message: Json, session: string | undefined): void {
    const { method, id } = message
    if (typeof method !== "string" || id === undefined || session === undefined) return
    const odd = this.#script.replies[this.#answered++ % Math.max(1, this.#script.replies.length)]
    this.#asides.push(
      this.#respond(id, odd, session).catch((error: unknown) => {
        this.#broken ??= error
      }),
    )
  }

  async #respond(id: unknown, odd: Tree | undefined, session: string): Promise<void> {
    const written: Tree[] =
      odd === undefined
        ? []
        : [
            [
              ["jsonrpc", '"2.0"'],
              ["id", toTree(id)],
              ["result", odd],
            ],
          ]
    written.push(toTree({ jsonrpc: "2.0", id, result: { action: "cancel" } }))
    written.push(toTree({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } }))
    for (const tree of written) {
      const sent = Buffer.from(fill(toText(tree), this.#peer, this.#handles))
      const headers = rightHeaders({ era: "legacy", method: "", name: undefined }, this.#peer, session)
      headers.push(["content-length", String(sent.length)])
      const request = { method: "POST", path: "/mcp", headers, chunks: [sent], breaks: false }
      const reply = await inTime(
        this.#door.send(request, () => {}),
        request,
      )
      if (reply === undefined || reply === "unsendable") continue
      judgeReply(request, dueFor(sent), reply, this.#peer, true)
    }
  }

  /** Fails when a session of somebody else was served. */
  #judgeSession({ status }: HttpReply, request: HttpRequest, session: string | undefined): void {
    const named = (name: string): readonly string[] =>
      request.headers.filter(([known]) => known.toLowerCase() === name).map(([, value]) => value)
    const isModern = named("mcp-protocol-version").some((version) => version >= "2026-07-28")
    const isMine = named("authorization").join() === `Bearer ${this.#peer.token}`
    if (session === undefined || isModern || !isMine || named("mcp-session-id").length > 1) return
    const isTheft = this.#handles.isForeign(session, this.#peer)
    assert(!isTheft || status >= 400, "a session is nobody's but its owner's", { status, request })
    if (isTheft) this.#tally.add(`${status} session of somebody else`)
  }

  #keepEvents(reply: HttpReply, session: string | undefined): void {
    if (!reply.headers.some(([, value]) => value === "text/event-stream")) return
    for (const { id } of readEvents(reply.body)) {
      if (id === undefined) continue
      this.#handles.add("event", id)
      if (session !== undefined) this.#handles.add("resumable", `${session} ${id}`)
    }
  }
}

/** Why a state that was changed is refused. */
const REFUSED_STATE = new Set(["request_state_invalid", "request_state_expired"])

/** Whether a server may hold the answer open until its client leaves. */
function mayStay(shot: HttpShot, due: Due): boolean {
  if (shot.method === "GET" || due.kind === "unclear") return true
  return due.kind === "answer" && due.message["method"] === "subscriptions/listen"
}

/** Whether a connection may end without an answer: because the client breaks it, or framed its request so that nothing is clear. */
function mayBreak(shot: HttpShot): boolean {
  return shot.headers.length > 0 || ["cut", "too long", "shorter than said", "longer than said"].includes(shot.body)
}

async function inTime<T>(done: Promise<T>, sent: unknown): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms\n${show(sent)}`)), ANSWER_MS)
  })
  return Promise.race([done, late]).finally(() => clearTimeout(timer))
}

function show(sent: unknown): string {
  return JSON.stringify(sent, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1").slice(0, 2_000) : value,
  )
}
