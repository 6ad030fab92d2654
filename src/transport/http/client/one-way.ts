/** Requests that are answered with nothing but a status: notifications, responses, and the end of a session. */
import type { Headers } from "../../../client/link.js"
import { HttpAbort } from "../../../core/http/send.js"
import { asMcpError } from "../network-error.js"
import { wrongStatus } from "./failure.js"
import { type Errand, go, isOk, type Way } from "./way.js"

export class OneWay {
  readonly #way: Way
  readonly #open = new Set<HttpAbort>()

  constructor(way: Way) {
    this.#way = way
  }

  /** Posts a message. Rejects with kind `transport` when it was not taken. */
  async post(message: Pick<Errand, "url" | "own" | "caller" | "body">): Promise<void> {
    const status = await this.#send({ method: "POST", repeatable: false, ...message })
    if (!isOk(status)) throw wrongStatus({ what: "a message without an answer", origin: this.#way.origin }, status)
  }

  /** Ends the session. Whatever the server says to that, for the client it is over. */
  async delete(url: string, own: Headers): Promise<void> {
    await this.#send({ method: "DELETE", url, own, repeatable: true }).catch(() => {})
  }

  /** Ends whatever is under way. */
  stop(): void {
    for (const abort of this.#open) abort.abort()
  }

  async #send(errand: Omit<Errand, "abort">): Promise<number> {
    const abort = new HttpAbort()
    this.#open.add(abort)
    try {
      const reply = await go(this.#way, { ...errand, abort })
      reply.discard()
      return reply.status
    } catch (error) {
      throw asMcpError(this.#way.url, error)
    } finally {
      this.#open.delete(abort)
    }
  }
}
