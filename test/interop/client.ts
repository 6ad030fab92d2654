/** What the suite asks of a client, whichever SDK it comes from. */
import type { Json } from "../support/wire.js"

/** The pairs of SDK and version negotiation that are tested. */
export const clientNames = ["v1", "v2 legacy", "v2 legacy 2025-06-18", "v2 auto", "v2 pinned 2026-07-28"] as const
export type ClientName = (typeof clientNames)[number]

/** How a client reaches the server. */
export const transportNames = ["http", "stdio"] as const
export type TransportName = (typeof transportNames)[number]

/** Where the server is: a URL, or what `node` is to be started with. */
export type Place =
  | { readonly transport: "http"; readonly url: string }
  | { readonly transport: "stdio"; readonly args: readonly string[] }

/** Options of one tool call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: Json) => void
  readonly meta?: Json
}

/** What became of the handshake or of discovery. */
export interface Negotiated {
  readonly version: string | undefined
  readonly server: unknown
  readonly capabilities: unknown
  readonly instructions: string | undefined
}

/** A connected client. */
export interface InteropClient {
  readonly negotiated: Negotiated
  /** What `onerror` heard since the last look, without what is expected of the client on its transport. */
  errors(): readonly Error[]
  /** The log messages of the server, in order. */
  readonly logs: readonly Json[]
  /** How often the SDK found structured content to fit, and not to fit, the tool's output schema. */
  readonly outputs: { fitting: number; unfitting: number }
  /** What the server wrote on stderr; empty over HTTP. */
  readonly stderr: () => string
  readonly sessionId: () => string | undefined
  /** The pid of the server; undefined over HTTP. */
  readonly pid: number | undefined
  listTools(): Promise<Json>
  callTool(name: string, args?: Json, options?: CallOptions): Promise<Json>
  listResources(): Promise<Json>
  listResourceTemplates(): Promise<Json>
  readResource(uri: string): Promise<Json>
  listPrompts(): Promise<Json>
  getPrompt(name: string, args?: Record<string, string>): Promise<Json>
  complete(ref: PromptOrTemplate, name: string, value: string): Promise<Json>
  ping(): Promise<Json>
  setLoggingLevel(level: "debug" | "info" | "warning" | "error"): Promise<Json>
  /** Undefined where the SDK has no such method. */
  readonly discover: (() => Promise<Json>) | undefined
  /** Undefined where the transport has no sessions. */
  readonly terminateSession: (() => Promise<void>) | undefined
  close(): Promise<void>
}

/** What completion is asked for. */
export type PromptOrTemplate =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string }

/** How the clients introduce themselves. */
export const identity = { name: "interop", version: "1.0.0" }

/**
 * On standard streams the SDKs hear a response before the notifications that were read together with it, take their progress
 * token for unknown, and drop them. No server can prevent that for certain; it can only write the two apart.
 */
export const PROGRESS_AFTER_RESPONSE = "Received a progress notification for an unknown token"

/** Everything that a connection is heard to say, and the counters that are written while it lives. */
export class Ear {
  readonly #errors: Error[] = []
  readonly #expected: string | undefined
  readonly logs: Json[] = []
  readonly outputs = { fitting: 0, unfitting: 0 }
  stderr = ""
  version: string | undefined

  constructor(place: Place) {
    this.#expected = place.transport === "stdio" ? PROGRESS_AFTER_RESPONSE : undefined
  }

  /** Attaches itself to whatever has `onerror`. */
  hear(source: { onerror?: ((error: Error) => void) | undefined }): void {
    source.onerror = (error) => {
      if (this.#expected === undefined || !error.message.startsWith(this.#expected)) this.#errors.push(error)
    }
  }

  /** What was heard since the last look. */
  readonly errors = (): readonly Error[] => this.#errors.splice(0)

  /** A validator of the SDK that counts its verdicts. */
  count<Validator extends (input: unknown) => { readonly valid: boolean }>(validate: Validator): Validator {
    return ((input: unknown) => {
      const verdict = validate(input)
      if (verdict.valid) this.outputs.fitting++
      else this.outputs.unfitting++
      return verdict
    }) as Validator
  }
}
