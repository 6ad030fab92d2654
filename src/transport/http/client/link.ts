/**
 * A client's link over Streamable HTTP, in both eras: each message is a POST of its own, a session is carried from one to the
 * next, and where the revision has one, a stream is held open for what the server says outside of them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import type {
  Headers,
  Link,
  LinkEvents,
  LinkFacts,
  Noise,
  Outbound,
  ReplyListener,
  Sent,
} from "../../../client/link.js"
import type { HeaderSource } from "../../../client/options.js"
import type { McpError } from "../../../core/error/error.js"
import { type Profile, toProfile } from "./facts.js"
import { linkClosed } from "./failure.js"
import { InFlight, type Keeper } from "./in-flight.js"
import { OneWay } from "./one-way.js"
import { Standby } from "./standby.js"
import type { Way } from "./way.js"

/** How long the server may take to end the session, in milliseconds. */
const END_MS = 2_000

/** Makes a link on a way. */
export function createHttpLink(way: Way): Link {
  return new HttpLink(way)
}

class HttpLink implements Link, Keeper {
  readonly kind = "http"
  readonly origin: string
  readonly #way: Way
  readonly #inFlight = new Set<InFlight>()
  readonly #oneWay: OneWay
  #events: LinkEvents = NO_EVENTS
  #profile: Profile = UNSETTLED
  #standby: Standby | undefined
  #end: McpError | undefined
  #closing: Promise<void> | undefined

  constructor(way: Way) {
    this.#way = way
    this.#oneWay = new OneWay(way)
    this.origin = way.origin
  }

  async open(events: LinkEvents): Promise<void> {
    this.#events = events
  }

  request(outbound: Outbound, listener: ReplyListener): Sent {
    // A handshake belongs to no session, whatever came before it.
    const profile = outbound.method === "initialize" ? UNSETTLED : this.#profile
    const request = new InFlight(this.#way, profile, outbound, listener, this)
    const error = this.#end
    if (error !== undefined) {
      queueMicrotask(() => request.close({ kind: "gone", error }))
      return request
    }
    this.#inFlight.add(request)
    request.start()
    this.#standby?.stir()
    return request
  }

  async send(text: string, headers: Headers | undefined, caller?: HeaderSource): Promise<void> {
    if (this.#end !== undefined) throw this.#end
    const own = headers === undefined ? this.#profile.post : { ...this.#profile.post, ...headers }
    await this.#oneWay.post({ url: this.#way.url, own, caller, body: text })
  }

  adopt(facts: LinkFacts): void {
    if (this.#end !== undefined) return
    this.#profile = toProfile(facts)
    this.#standby?.stop()
    this.#standby = facts.standby ? new Standby(this.#way, this.#profile, this.#events) : undefined
    this.#standby?.start()
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut()
    return this.#closing
  }

  over(request: InFlight): void {
    this.#inFlight.delete(request)
  }

  noise(noise: Noise): void {
    if (this.#end === undefined) this.#events.noise(noise)
  }

  async #shut(): Promise<void> {
    const error = linkClosed(this.origin)
    this.#end = error
    this.#standby?.stop()
    for (const request of this.#inFlight) request.close({ kind: "gone", error })
    this.#oneWay.stop()
    if (this.#profile.facts?.session !== undefined) await this.#endSession()
    this.#way.send.closeIdle?.()
  }

  /** Tells the server that the session is over, and waits for its answer as long as is worth it. */
  #endSession(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#way.clock.after(END_MS, () => {
        this.#oneWay.stop()
        resolve()
      })
      void this.#oneWay.delete(this.#way.url, this.#profile.delete).then(() => {
        stop()
        resolve()
      })
    })
  }
}

const UNSETTLED = toProfile(undefined)
const NO_EVENTS: LinkEvents = { message() {}, gone() {}, noise() {} }
