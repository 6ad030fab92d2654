/** The way out over HTTP by any `fetch`: of a platform without `node:http`, or of the caller's own. */
import type { BodySink, HttpAbort, HttpReply, HttpRequest, HttpSend } from "../../core/http/send.js"
import { abortedError, MAX_DISCARDED_BYTES, networkError } from "./network-error.js"

type Fetch = typeof globalThis.fetch

/** Settings of {@link createSendFetch}. */
export interface SendFetchOptions {
  /** Default: the platform's own. */
  readonly fetch?: Fetch
}

/** Makes a way out by the platform's own `fetch`. Follows no redirect. */
export function createSend(): HttpSend {
  return createSendFetch()
}

/** Makes a way out by a `fetch`. Follows no redirect. */
export function createSendFetch({ fetch = globalThis.fetch }: SendFetchOptions = {}): HttpSend {
  const discarded = new Set<HttpAbort>()
  const send = (request: HttpRequest): Promise<HttpReply> => answer(request, fetch, discarded)
  return Object.assign(send, {
    closeIdle() {
      for (const abort of discarded) abort.abort()
    },
  })
}

/** Sends a request. One that is aborted ends at once, whether or not `fetch` heeds its signal. */
async function answer(request: HttpRequest, fetch: Fetch, discarded: Set<HttpAbort>): Promise<HttpReply> {
  const { url, method, headers, body = null, abort } = request
  const controller = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    abort.onAbort(() => {
      controller.abort()
      reject(abortedError(url))
    })
  })
  const answered = call(fetch, url, { method, headers, body, redirect: "manual", signal: controller.signal })
  try {
    const response = await Promise.race([aborted, answered])
    abort.onAbort(() => controller.abort())
    return new FetchReply(request, response, controller, discarded)
  } catch (cause) {
    answered.then((late) => late.body?.cancel()).catch(() => {})
    throw abort.aborted ? cause : networkError(url, cause)
  }
}

/** A `fetch` that throws at once rejects, too; it is called without a `this`, which browsers insist on. */
async function call(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  return fetch(url, init)
}

/** What stands for a redirect whose status the platform does not show. */
const HIDDEN_REDIRECT = 302

class FetchReply implements HttpReply {
  readonly #request: HttpRequest
  readonly #response: Response
  readonly #controller: AbortController
  readonly #discarded: Set<HttpAbort>

  constructor(request: HttpRequest, response: Response, controller: AbortController, discarded: Set<HttpAbort>) {
    this.#request = request
    this.#response = response
    this.#controller = controller
    this.#discarded = discarded
  }

  get status(): number {
    return this.#response.type === "opaqueredirect" ? HIDDEN_REDIRECT : this.#response.status
  }

  get url(): string {
    return this.#response.url === "" ? this.#request.url : this.#response.url
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined
  }

  read(sink: BodySink): void {
    const { abort } = this.#request
    const reader = this.#response.body?.getReader()
    let isOver = false
    const finish = (): boolean => {
      if (isOver) return false
      isOver = true
      abort.onAbort(undefined)
      return true
    }
    const step = (): Promise<void> | undefined =>
      reader?.read().then(
        ({ done, value }) => {
          if (isOver) return
          if (!done) {
            sink.chunk(value)
            void step()
          } else if (finish()) sink.end()
        },
        (cause: unknown) => {
          if (finish()) sink.fail(cause)
        },
      )
    abort.onAbort(() => {
      isOver = true
      this.#controller.abort()
      reader?.cancel().catch(() => {})
    })
    if (reader === undefined) {
      queueMicrotask(() => {
        if (finish()) sink.end()
      })
    } else void step()
  }

  discard(): void {
    const { abort } = this.#request
    const done = (): boolean => this.#discarded.delete(abort)
    let length = 0
    this.#discarded.add(abort)
    this.read({
      chunk: (bytes) => {
        length += bytes.length
        if (length <= MAX_DISCARDED_BYTES) return
        abort.abort()
        done()
      },
      end: done,
      fail: done,
    })
  }
}
