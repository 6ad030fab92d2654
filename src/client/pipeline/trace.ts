/** Tells whoever watches of a call from its beginning to its end, and passes on the trace that the call is in. */
import { isTraceparent } from "../../core/feature/traceparent.js"
import type { CallWatch } from "../watch.js"
import type { Attempt, Stage } from "./stage.js"

/**
 * Adds a trace context when it is well formed: the call's, else the client's, else that of a watcher, such as the span of the call.
 * `tracestate` and `baggage` are never added. A call that nobody watches is handed on as it is.
 */
export function createTrace(watch: CallWatch): Stage {
  return (call, attempt, next) => {
    if (!watch.watched) return next(call, withTrace(attempt, call.settings.traceparent))
    const started = watch.begin(call)
    const { request } = started
    const within = watch.within(request)
    const traced = withTrace(attempt, request.traceparent ?? watch.traceparent(request))
    call.within = within
    call.onEnd((error, result) => watch.end(started, call, error, result))
    return within === undefined ? next(call, traced) : within(() => next(call, traced))
  }
}

function withTrace(attempt: Attempt, traceparent: string | undefined): Attempt {
  return isTraceparent(traceparent) ? { ...attempt, traceparent } : attempt
}
