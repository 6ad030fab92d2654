/** Who sends: each peer has a secret that nobody else may ever see, and knows the handles that servers gave to anybody. */
import { randomBytes } from "node:crypto"
import { PLACEHOLDER } from "./messages.js"

/** What a server gives out to be handed back. */
export type HandleKind = "state" | "session" | "cursor" | "event" | "task" | "resumable"

/** Handles that were given out, to whomever: the newest few of each kind. */
export class Handles {
  readonly #known = new Map<HandleKind, string[]>()
  readonly #owners = new Map<string, Peer>()

  add(kind: HandleKind, value: string): void {
    const known = this.#known.get(kind) ?? []
    if (known.includes(value)) return
    known.push(value)
    if (known.length > 10) known.shift()
    this.#known.set(kind, known)
  }

  /** Keeps a session, and whose it is. */
  addSession(session: string, owner: Peer): void {
    this.add("session", session)
    this.#owners.set(session, owner)
    const [oldest] = this.#owners.size > 1_000 ? this.#owners.keys() : []
    if (oldest !== undefined) this.#owners.delete(oldest)
  }

  /** Whether a session is somebody else's. */
  isForeign(session: string, peer: Peer): boolean {
    const owner = this.#owners.get(session)
    return owner !== undefined && owner.token !== peer.token
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
  return text.replace(PLACEHOLDER, (_, kind: string, index: string) => {
    switch (kind) {
      case "secret":
        return secret
      case "streamSession":
        return handles.take("resumable", Number(index)).split(" ")[0] ?? ""
      case "streamEvent":
        return handles.take("resumable", Number(index)).split(" ")[1] ?? ""
      default:
        return handles.take(kind as HandleKind, Number(index))
    }
  })
}

/** The secrets in a text that are not the peer's own. */
export function foreignSecrets(text: string, { secret }: Peer): readonly string[] {
  return (text.match(SECRET_PATTERN) ?? []).filter((found) => found !== secret)
}
