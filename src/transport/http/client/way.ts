/** The way to one server over HTTP, which every link to it shares: how a request of any method is completed and sent. */
import type { ClientLimits } from "../../../client/limits.js"
import type { Headers } from "../../../client/link.js"
import type { HeaderSource } from "../../../client/options.js"
import { mediaType } from "../../../core/http/media.js"
import type { HttpAbort, HttpReply, HttpSend } from "../../../core/http/send.js"
import type { Clock } from "../../../store/port.js"
import { abortedError } from "../network-error.js"
import type { HeaderPlan } from "./header-source.js"

/** One HTTP request before its headers are complete. */
export interface Errand {
  readonly method: "GET" | "POST" | "DELETE"
  readonly url: string
  /** The protocol's own headers. */
  readonly own: Headers
  /** The headers of the call. */
  readonly caller?: HeaderSource | undefined
  readonly body?: string
  readonly repeatable: boolean
  readonly abort: HttpAbort
  readonly isBackground?: boolean
  /** Called once its headers are complete, right before it leaves. */
  readonly leaves?: () => void
}

/** What the links to one server share. */
export interface Way {
  readonly url: string
  readonly origin: string
  readonly limits: ClientLimits
  readonly clock: Clock
  readonly plan: HeaderPlan
  readonly send: HttpSend
}

/** Completes a request and sends it. Rejects as {@link HttpSend} does, or with kind `misuse` for a header of the caller's. */
export function go({ plan, send }: Way, errand: Errand): Promise<HttpReply> {
  const { method, url, own, caller, body, repeatable, abort, isBackground = false } = errand
  const post = (headers: Headers): Promise<HttpReply> => {
    errand.leaves?.()
    return send({ method, url, headers, body, repeatable, abort, isBackground })
  }
  try {
    const headers = plan.complete(own, caller)
    if (!(headers instanceof Promise)) return post(headers)
    return headers.then((complete) => (abort.aborted ? Promise.reject(abortedError(url)) : post(complete)))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Whether an answer is an event stream. */
export function isStream(reply: HttpReply): boolean {
  return isOk(reply.status) && mediaType(reply.header("content-type") ?? "") === "text/event-stream"
}

/** Whether a status says that the request was taken. */
export function isOk(status: number): boolean {
  return status >= 200 && status < 300
}

/** Whether a stream that was refused with a status may be there later. */
export function mayComeBack(status: number): boolean {
  return status >= 500 && status !== 501
}
