/** A question while the application has it: no clock of its calls runs, and it is let go of once nobody waits for the answer. */
import { McpError } from "../../core/error/error.js"
import type { Revision } from "../../core/revision/revision.js"
import { onAbort } from "../abort.js"
import type { Call } from "../call.js"

/** Where a question comes from. */
export interface QuestionFacts {
  /** The calls that it may belong to. */
  readonly calls: readonly Call[]
  /** Aborts when the question is no longer open. */
  readonly signal: AbortSignal
  /** The revision that is spoken; undefined while that is still negotiated. */
  readonly revision?: Revision | undefined
}

/**
 * Runs `work` with a signal that aborts when the question is withdrawn, or when all calls that it may belong to are over and one
 * of them was given up. A call that was answered says nothing: on a shared pipe the question may be somebody else's. Once the
 * signal aborts, `letGo` says how it ends, and what `work` still comes to is for nobody.
 */
export function attend<T>(
  { calls, signal }: QuestionFacts,
  work: (signal: AbortSignal) => Promise<T>,
  letGo: (reason: unknown) => McpError,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const endings = calls.map((call) => call.endSignal)
    const resumes = calls.map((call) => call.pause())
    let unheard: (() => void)[] = []
    const end = (): void => {
      for (const resume of resumes) resume()
      for (const stop of unheard) stop()
    }
    const abort = (reason: unknown): void => {
      end()
      reject(letGo(reason))
      controller.abort(reason)
    }
    const withdraw = (): void => abort(signal.reason)
    const callEnded = (): void => {
      const given = endings.find(({ reason }) => McpError.is(reason))
      if (given !== undefined && endings.every(({ aborted }) => aborted)) abort(given.reason)
    }
    unheard = [onAbort(signal, withdraw), ...endings.map((ending) => onAbort(ending, callEnded))]
    if (signal.aborted) return withdraw()
    work(controller.signal).then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
