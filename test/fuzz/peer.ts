/** Who sends: each peer has a secret that nobody else may ever see, and knows the handles that servers gave to anybody. */
import { randomBytes } from "node:crypto"
import { PLACEHOLDER } from "./messages.js"

/** What a server gives out to be handed back. */
export type HandleKind = "state" | "session" | "cursor" | "event" | "task"

/** Handles that were given out, to whomever: the newest few of each kind. */
export class Handles {
  readonly #known = new Map<HandleKind, string[]>()

  add(kind: HandleKind, value: string): void {
    const known = this.#known.get(kind) ?? []
    if (known.includes(value)) return
    known.push(value)
    if (known.length > 10) known.shift()
    this.#known.set(kind, known)
  }

  /** One of them, counted from the newest; something made up when there is none. */
  take(kind: HandleKind, index: number): string {
    const known = this.#known.get(kind) ?? []
    return known[known.length - 1 - (index % Math.max(1, known.length))] ?? `no-${kind}`
  }

  /** Keeps what an answer gives out. */
  collect(message: unknown): void {
    for (const [key, value] of Object.entries((message as { result?: object })?.result ?? {})) {
      if (typeof value !== "string") continue
      if (key === "requestState") this.add("state", value)
      if (key === "nextCursor") this.add("cursor", value)
    }
  }
}

/** The form of every secret. */
export const SECRET_PATTERN = /secret-[0-9a-f]{16}/g

/** One who sends. */
export interface Peer {
  readonly token: string
  readonly secret: string
}

let peers = 0

/** A peer whom nobody has heard of. */
export function createPeer(): Peer {
  peers = (peers + 1) % 1_000
  return { token: `peer-${peers}`, secret: `secret-${randomBytes(8).toString("hex")}` }
}

/** Fills in what only the peer knows. The values of all placeholders are free of characters that JSON would escape. */
export function fill(text: string, { secret }: Peer, handles: Handles): string {
  return text.replace(PLACEHOLDER, (_, kind: HandleKind | "secret", index: string) =>
    kind === "secret" ? secret : handles.take(kind, Number(index)),
  )
}

/** The secrets in a text that are not the peer's own. */
export function foreignSecrets(text: string, { secret }: Peer): readonly string[] {
  return (text.match(SECRET_PATTERN) ?? []).filter((found) => found !== secret)
}
