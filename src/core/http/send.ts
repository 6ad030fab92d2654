/**
 * A client's only way out over HTTP: one request, one reply whose body is handed over as it comes. What adds authorization or
 * forbids addresses wraps an {@link HttpSend}; the leaves are in `transport/http`.
 */

/** One request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE"
  readonly url: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Whether it may be sent again when a connection that was kept open turns out to be dead before any byte of an answer. */
  readonly repeatable: boolean
  /** Whether nobody waits for it, so that it does not keep the process alive. Default false. */
  readonly isBackground?: boolean
  /** Ends the exchange early, whatever it is at. */
  readonly abort: HttpAbort
}

/** Hears a body. After `end` or `fail`, and once the exchange was aborted, comes nothing more. */
export interface BodySink {
  chunk(bytes: Uint8Array): void
  end(): void
  /** The connection was lost before the end. */
  fail(cause: unknown): void
}

/** What came back. Its body has to be read or discarded, so that the connection can be used again. */
export interface HttpReply {
  readonly status: number
  /** The address that answered; another one than was asked only where redirects are followed. */
  readonly url: string
  /** A header by its lower-case name; several of one name joined by `, `. */
  header(name: string): string | undefined
  /** Hands the body over, decoded from any content encoding. */
  read(sink: BodySink): void
  /** Lets the body go. */
  discard(): void
}

/**
 * Sends a request and resolves once the head of the answer is there.
 *
 * @throws `McpError` of kind `transport`, reason `network_error`, when there is no answer; its cause says why. Of kind
 * `cancelled` when it was aborted.
 */
export interface HttpSend {
  (request: HttpRequest): Promise<HttpReply>
  /** Closes the connections that are kept for later requests. Requests may still be sent; what wraps one hands this on. */
  closeIdle?(): void
}

/** Ends one exchange early. A few bytes in the place of an `AbortController`, which would cost more than the rest of a request. */
export class HttpAbort {
  #run: (() => void) | undefined
  #aborted = false

  get aborted(): boolean {
    return this.#aborted
  }

  /** Ends the exchange; nothing happens the second time. */
  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#run?.()
    this.#run = undefined
  }

  /** Calls `run` when the exchange is to end, at once if that was said already; takes the place of what was said before. */
  onAbort(run: (() => void) | undefined): void {
    if (this.#aborted) run?.()
    else this.#run = run
  }
}
