/**
 * Listening in the legacy era: list changes are told to every session, and changes of a resource to those that subscribe to it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { changesOf, type ListenFilter, topicOf, topicsOf } from "../../core/feature/listen.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Changes } from "../changes.js"
import type { ChangeQueue } from "./queue.js"

/** What listening in a session needs of the client. */
export interface SessionHost {
  readonly changes: Changes
  request(method: string, params: JsonObject): Promise<unknown>
  /** Calls `run` each time a new session takes the place of a lost one. Answers the function that ends it. */
  onRenewed(run: () => void): () => void
}

/** Subscriptions of one client, counted, so that two who listen to one resource do not end each other's. */
export class Subscriptions {
  readonly #host: SessionHost
  readonly #counts = new Map<string, number>()

  constructor(host: SessionHost) {
    this.#host = host
  }

  /** Feeds a queue. Answers the function that stops it. */
  listen(filter: ListenFilter, queue: ChangeQueue): () => void {
    const { changes } = this.#host
    const topics = new Set(topicsOf(filter))
    const uris = filter.resourceSubscriptions ?? []
    const stopHearing = changes.subscribe((change) => {
      if (topics.has(topicOf(change))) queue.push(change, false)
    })
    const stopRenewing = this.#host.onRenewed(() => {
      void this.#subscribe(uris, queue)
      for (const change of changesOf(filter)) queue.push(change, true)
    })
    for (const uri of uris) this.#counts.set(uri, (this.#counts.get(uri) ?? 0) + 1)
    void this.#subscribe(uris, queue)
    return () => {
      stopHearing()
      stopRenewing()
      for (const uri of uris) this.#leave(uri)
    }
  }

  async #subscribe(uris: readonly string[], queue: ChangeQueue): Promise<void> {
    try {
      await Promise.all(uris.map((uri) => this.#host.request("resources/subscribe", { uri })))
    } catch (error) {
      queue.end(error)
    }
  }

  #leave(uri: string): void {
    const left = (this.#counts.get(uri) ?? 1) - 1
    if (left > 0) return void this.#counts.set(uri, left)
    this.#counts.delete(uri)
    this.#host.request("resources/unsubscribe", { uri }).catch(() => {})
  }
}
