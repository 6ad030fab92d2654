/** What a server says of its own: questions, progress, notifications, and what is none of them. */
import type { McpError } from "../../core/error/error.js"
import { readChange, readSubscriptionId } from "../../core/feature/listen.js"
import { isProgressToken } from "../../core/feature/progress.js"
import { clampText } from "../../core/feature/text.js"
import type { Revision } from "../../core/revision/revision.js"
import {
  isJsonObject,
  isRequestId,
  type JsonObject,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
} from "../../core/wire/message.js"
import type { ClientEvents } from "../../observe/client-event.js"
import type { Topics } from "../../observe/emitter.js"
import type { Logger } from "../../observe/log.js"
import type { Call, Progress } from "../call.js"
import type { Changes } from "../changes.js"
import type { Answerer } from "../handler/answerer.js"
import type { Noise } from "../link.js"
import type { StreamHears } from "../listen/stream.js"
import type { HeaderSource } from "../options.js"
import { Questions } from "./questions.js"
import type { Wire } from "./wire.js"

/** What an inbox is made of. */
export interface InboxParts {
  readonly answerer: Answerer
  readonly topics: Topics<ClientEvents>
  readonly logger: Logger
  /** Hear of what changed at the server. */
  readonly changes: Changes
  /** The revision that is spoken; undefined while that is negotiated. */
  readonly revision: () => Revision | undefined
}

export class Inbox {
  readonly #parts: InboxParts
  readonly #questions: Questions
  /** Streams of changes by the id of their request. */
  readonly #streams = new Map<RequestId, StreamHears>()
  #noise: Noise | undefined

  constructor(parts: InboxParts) {
    this.#parts = parts
    this.#questions = new Questions(parts.answerer)
  }

  /** The last thing that came and was no message. */
  get lastNoise(): Noise | undefined {
    return this.#noise
  }

  asked(wire: Wire, message: RequestMessage, calls: readonly Call[], caller: HeaderSource | undefined): void {
    const revision = this.#parts.revision()
    if (revision !== undefined && revision.asks !== "push") {
      return this.noise({
        from: "output",
        text: `a request that the revision does not have: ${clampText(message.method, 100)}`,
      })
    }
    void this.#questions.ask(message, { calls, revision }, (text) => {
      wire.link.send(text, undefined, caller).catch((error: unknown) => {
        this.#parts.logger.debug("an answer to the server was lost", { method: message.method, error })
      })
    })
  }

  told(wire: Wire, message: NotificationMessage): void {
    const { method, params = {} } = message
    if (method === "notifications/progress") return this.#progressed(wire, params)
    const stream = this.#streamOf(params)
    if (method === "notifications/subscriptions/acknowledged") {
      const { notifications } = params
      return stream?.acknowledged(isJsonObject(notifications) ? notifications : undefined)
    }
    if (method === "notifications/cancelled") {
      return stream === undefined ? this.#questions.cancel(params["requestId"], params["reason"]) : stream.cancelled()
    }
    const change = readChange(method, params)
    if (change !== undefined) {
      stream?.changed(change)
      this.#parts.changes.publish(change)
    }
    this.#parts.answerer.notice(message)
  }

  /** Hears what belongs to a stream of changes. Answers the function that ends it. */
  follow(id: RequestId, hears: StreamHears): () => void {
    this.#streams.set(id, hears)
    return () => void this.#streams.delete(id)
  }

  /** The stream that a message names; a cancellation names it by its request as well. */
  #streamOf(params: JsonObject): StreamHears | undefined {
    const id = readSubscriptionId(params) ?? params["requestId"]
    return isRequestId(id) ? this.#streams.get(id) : undefined
  }

  noise(noise: Noise): void {
    if (noise.from !== "stderr") this.#noise = noise
    const topic = this.#parts.topics["client.noise"]
    if (topic.watched) topic.publish(noise)
  }

  /** Lets go of all questions that are open. */
  close(reason: McpError): void {
    this.#questions.close(reason)
  }

  #progressed(wire: Wire, params: JsonObject): void {
    const { progressToken, progress, total, message } = params
    if (!isProgressToken(progressToken) || typeof progress !== "number" || !Number.isFinite(progress)) {
      return this.noise({ from: "output", text: "progress without a token or a number" })
    }
    const call = wire.callOf(progressToken)
    if (call === undefined) {
      if (!wire.wasIssued(progressToken)) this.noise({ from: "output", text: "progress of nothing that was asked" })
      return
    }
    const { onProgress, resetTimeoutOnProgress } = call.settings
    if (resetTimeoutOnProgress) call.clock?.restart()
    const told: Progress = {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    }
    const failed = (error: unknown): void => {
      this.#parts.logger.error("onProgress failed", { method: call.method, error })
    }
    try {
      // It is said to answer nothing; a function that does something later answers a promise all the same.
      const heard: unknown = onProgress?.(told)
      if (heard instanceof Promise) heard.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
