/** Passes on the trace that a call is in. */
import { isTraceparent } from "../../core/feature/traceparent.js"
import type { Stage } from "./stage.js"

/** Adds the call's trace context, when it is well formed; `tracestate` and `baggage` are never added. */
export const trace: Stage = (call, attempt, next) => {
  const { traceparent } = call.settings
  return isTraceparent(traceparent) ? next(call, { ...attempt, traceparent }) : next(call, attempt)
}
