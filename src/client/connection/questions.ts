/** The questions of a server that are with the application: answered once each, and let go of when the server cancels them. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { Revision } from "../../core/revision/revision.js"
import { errorResponse, successResponse } from "../../core/wire/build.js"
import type { JsonValue, RequestId, RequestMessage } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import type { Answerer } from "../handler/answerer.js"

/** Questions by their id, which no two open ones share. */
export class Questions {
  readonly #answerer: Answerer
  readonly #open = new Map<RequestId, AbortController>()

  constructor(answerer: Answerer) {
    this.#answerer = answerer
  }

  /** Answers one; `reply` sends the response, unless the question was cancelled. */
  async ask(
    message: RequestMessage,
    facts: { readonly calls: readonly Call[]; readonly revision: Revision | undefined },
    reply: (text: string) => void,
  ): Promise<void> {
    const { id, method, params } = message
    if (this.#open.has(id)) {
      const text = "Invalid request: the id belongs to a request that is still open"
      return reply(JSON.stringify(errorResponse(id, codes.invalidRequest, text)))
    }
    const controller = new AbortController()
    this.#open.set(id, controller)
    const { signal } = controller
    const response = await this.#answerer.answer({ method, params }, { ...facts, signal }).then(
      (result) => successResponse(id, result),
      (error: unknown) => toErrorResponse(id, error),
    )
    if (this.#open.get(id) !== controller) return
    this.#open.delete(id)
    reply(JSON.stringify(response))
  }

  /** Lets go of a question, because its server said so; nothing is answered. */
  cancel(id: JsonValue | undefined, reason: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return
    const controller = this.#open.get(id)
    if (this.#open.delete(id)) controller?.abort(reason)
  }

  /** Lets go of all of them. */
  close(reason: McpError): void {
    for (const [id, controller] of this.#open) {
      this.#open.delete(id)
      controller.abort(reason)
    }
  }
}

function toErrorResponse(id: RequestId, error: unknown): ReturnType<typeof errorResponse> {
  return McpError.is(error, "protocol") && error.code !== undefined
    ? errorResponse(id, error.code, error.message, error.data)
    : errorResponse(id, codes.internalError, "Internal error: the question could not be answered")
}
