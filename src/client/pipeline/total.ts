/** How long a whole call may take, with all its rounds, retries and answers of the application. */
import { McpError } from "../../core/error/error.js"
import type { Deadlines } from "../../store/deadlines.js"
import { Due } from "../../store/deadlines.js"
import type { Clock } from "../../store/port.js"
import type { Call } from "../call.js"
import type { Stage } from "./stage.js"

/** Ends calls that take longer than their `maxTotalTimeoutMs`. */
export function createTotal(clock: Clock, deadlines: Deadlines): Stage {
  return (call, attempt, next) => {
    const due = new TotalDue(call, attempt.sinceMs ?? clock.now())
    deadlines.add(due)
    call.onEnd(() => deadlines.delete(due))
    return next(call, attempt)
  }
}

/** Ends every call that is open, whatever it waits for, and those that take their places in line. */
export function endCalls(deadlines: Deadlines, error: McpError): void {
  let open: readonly TotalDue[]
  do {
    open = deadlines.values().filter((due) => due instanceof TotalDue)
    for (const { call } of open) call.fail(error)
  } while (open.length > 0)
}

class TotalDue extends Due {
  readonly call: Call

  constructor(call: Call, sinceMs: number) {
    super()
    this.call = call
    this.dueMs = sinceMs + call.settings.maxTotalTimeoutMs
  }

  expire(): void {
    const { title, settings } = this.call
    const text = `${title} took longer than ${settings.maxTotalTimeoutMs} ms in all; maxTotalTimeoutMs of the call or the client says how long it may`
    this.call.fail(new McpError(text, { kind: "timeout", reason: "total_timeout", retryable: true }))
  }
}
