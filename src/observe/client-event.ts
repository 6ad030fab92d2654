/** Everything of a client that can be watched: one typed map from names to events. No event holds a secret or a whole message. */

/** Every event by its name. */
export interface ClientEvents {
  /** The state of the connection changed. `reason` says why: how the era came about, or the reason of the error. */
  "client.status": { readonly state: string; readonly origin: string; readonly reason: string | undefined }
  /** Something came that is no message, and was passed over: text on standard output, a line of stderr, an odd event. */
  "client.noise": { readonly from: string; readonly text: string }
  /** Keys of a caller's `_meta` that belong to the protocol and were left out. */
  "client.meta_dropped": { readonly method: string; readonly keys: readonly string[] }
  /** An entry of a list that was set aside, at its place over all pages. `name` is undefined when it does not say one. */
  "client.entry_refused": {
    readonly method: string
    readonly name: string | undefined
    readonly index: number
    readonly reason: string
  }
}

/** The name of an event. */
export type ClientEvent = keyof ClientEvents

const NAMES: Readonly<Record<ClientEvent, true>> = {
  "client.status": true,
  "client.noise": true,
  "client.meta_dropped": true,
  "client.entry_refused": true,
}

/** The names of all events. */
export const clientEvents: readonly ClientEvent[] = Object.keys(NAMES) as ClientEvent[]
