/**
 * Listening in the legacy era: list changes are told to every session, and changes of a resource to those that subscribe to it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import type { McpError } from "../../core/error/error.js"
import { changesOf, type ListenFilter } from "../../core/feature/listen.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Changes } from "../changes.js"
import type { Watcher } from "../connection/connection.js"
import { subjectsOf } from "./listen.js"
import type { ChangeQueue } from "./queue.js"

/** What listening in a session needs of the client. */
export interface SessionHost {
  readonly changes: Changes
  /** Whether messages can be sent now. */
  isUp(): boolean
  /** Why nothing is heard of what the server says by itself; undefined when it is. */
  deafness(): McpError | undefined
  request(method: string, params: JsonObject): Promise<unknown>
  /** Tells a watcher from now on. Answers the function that ends it. */
  watch(watcher: Watcher): () => void
}

/** Subscriptions of one client, counted, so that two who listen to one resource do not end each other's. */
export class Subscriptions {
  readonly #host: SessionHost
  readonly #counts = new Map<string, number>()
  /** What was asked last about a resource, until it is answered. */
  readonly #asked = new Map<string, Promise<void>>()

  constructor(host: SessionHost) {
    this.#host = host
  }

  /** Feeds a queue. Answers the function that stops it. */
  listen(filter: ListenFilter, queue: ChangeQueue): () => void {
    const deafness = this.#host.deafness()
    if (deafness !== undefined) {
      queue.end(deafness)
      return () => {}
    }
    const uris = filter.resourceSubscriptions ?? []
    const subjectOf = subjectsOf(filter)
    const stopHearing = this.#host.changes.subscribe((change) => {
      const subject = subjectOf(change)
      if (subject !== undefined) queue.push(change, false, subject)
    })
    const suppose = (): void => {
      for (const change of changesOf(filter)) queue.push(change, true)
    }
    const stopWatching = this.#host.watch({
      renewed: () => {
        this.#subscribe(uris, queue)
        suppose()
      },
      missed: suppose,
      over: (error) => queue.end(error),
    })
    for (const uri of uris) this.#counts.set(uri, (this.#counts.get(uri) ?? 0) + 1)
    if (this.#host.isUp()) this.#subscribe(uris, queue)
    // What was asked for is asked once the connection is back, which this brings about.
    else this.#host.request("ping", {}).catch((error: unknown) => queue.end(error))
    return () => {
      stopHearing()
      stopWatching()
      for (const uri of uris) this.#leave(uri)
    }
  }

  #subscribe(uris: readonly string[], queue: ChangeQueue): void {
    for (const uri of uris) {
      this.#ask("resources/subscribe", uri, () => this.#counts.has(uri)).catch((error: unknown) => queue.end(error))
    }
  }

  #leave(uri: string): void {
    const left = (this.#counts.get(uri) ?? 1) - 1
    if (left > 0) return void this.#counts.set(uri, left)
    this.#counts.delete(uri)
    const isUp = (): boolean => this.#host.isUp()
    if (isUp()) this.#ask("resources/unsubscribe", uri, isUp).catch(() => {})
  }

  /** Asks for something about a resource once what was asked before is answered: over HTTP, the one could overtake the other. */
  #ask(method: string, uri: string, isWanted: () => boolean): Promise<unknown> {
    const before = this.#asked.get(uri)
    const send = (): Promise<unknown> => this.#host.request(method, { uri })
    const answer = before === undefined ? send() : before.then(() => (isWanted() ? send() : undefined))
    const over = (): void => {
      if (this.#asked.get(uri) === asked) this.#asked.delete(uri)
    }
    const asked = answer.then(over, over)
    this.#asked.set(uri, asked)
    return answer
  }
}
