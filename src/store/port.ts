/** The ports behind which state, events and time live, so that other engines can take the place of the ones in memory. */

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

/** Something that changed on a server and that whoever listens wants to hear of. */
export type Change =
  | { readonly kind: "list"; readonly list: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string }

/** Carries changes to every listener, on this node and on others. Delivery is at most once. */
export interface Bus {
  publish(change: Change): void
  /** Answers the function that ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void
}

/** Time, as an argument. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may be up to one step (250 ms) behind. */
  now(): number
  /** Runs `task` once, `delayMs` from now, rounded up to the next step. Answers the function that cancels it. */
  after(delayMs: number, task: () => void): () => void
}
  /** Whether a task is lost with the request that asked for it. Default false. */
  readonly isBound?: boolean
