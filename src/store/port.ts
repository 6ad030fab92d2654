/** The ports behind which state, events and time live, so that other engines can take the place of the ones in memory. */
import type { Change } from "../core/feature/listen.js"

/** A value that is there at once in memory, and later from anywhere else. */
export type MaybePromise<T> = T | Promise<T>

/** A stored value and the version that a later compare-and-set names. */
export interface Stored {
  readonly value: string
  readonly version: string
}

/** When and how long a value is kept. */
export interface SetOptions {
  /** Milliseconds until the value is gone. Default: until it is deleted. */
  readonly ttlMs?: number
  /** Write only when the key is absent, or still at this version. */
  readonly if?: "absent" | { readonly version: string }
}

/** Key and value storage with compare-and-set. Values are strings. */
export interface Store {
  get(key: string): MaybePromise<Stored | undefined>
  /** Answers whether it wrote: false when the condition did not hold or the store is full. */
  set(key: string, value: string, options?: SetOptions): MaybePromise<boolean>
  /** Answers whether the key was there and its condition held. */
  delete(key: string, options?: { readonly if?: { readonly version: string } }): MaybePromise<boolean>
}

/** Carries changes to every listener, on this node and on others. Delivery is at most once. */
export interface Bus {
  /** Tells every listener, those of the publishing node too. */
  publish(change: Change): MaybePromise<void>
  /** Answers the function that ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void
}

/** One message as it was sent on an event stream, with its place in it. */
export interface StreamEvent {
  readonly position: number
  readonly frame: string
}

/**
 * Keeps what was sent on the event streams of legacy sessions, for clients that lost a connection. What it keeps is bounded:
 * it may let go of anything, and then says so.
 */
export interface EventStore {
  /** Keeps one event. Positions of a stream rise by one. */
  append(stream: string, event: StreamEvent): MaybePromise<void>
  /** The events behind a position, in order; undefined when the stream is not known or any of them is gone. */
  after(stream: string, position: number): MaybePromise<readonly StreamEvent[] | undefined>
}

/** Time, as an argument. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may be up to one step (250 ms) behind. */
  now(): number
  /** Runs `task` once, `delayMs` from now, rounded up to the next step. Answers the function that cancels it. */
  after(delayMs: number, task: () => void): () => void
  /** Whether a task is lost with the request that asked for it. Default false. */
  readonly isBound?: boolean
}
