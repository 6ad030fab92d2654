/**
 * The end of a child process: it is asked, told, and forced, each with a time of its own, until nothing of it and of what it
 * started is left.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
 */
import type { ChildProcess } from "node:child_process"
import type { Clock } from "../../store/port.js"
import { isGroupAlive, signalGroup } from "./group.js"

/** How often it is looked whether everything has ended. */
const LOOK_MS = 50

/** A child that is to end. */
export interface Ending {
  readonly child: ChildProcess
  /** Resolves once it has emitted `close`. */
  readonly closed: Promise<unknown>
  /** How long each step may take. */
  readonly exitMs: number
  readonly clock: Clock
}

/**
 * Ends a child and its group: closes its input, signals SIGTERM and then SIGKILL. Resolves once its streams are closed, whoever
 * else still holds them. Never rejects.
 */
export async function endChild({ child, closed, exitMs, clock }: Ending): Promise<void> {
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined) return
  stdin?.end()
  for (const signal of [undefined, "SIGTERM", "SIGKILL"] as const) {
    if (signal !== undefined) signalGroup(pid, signal)
    if (await endsWithin(child, pid, exitMs, clock)) break
  }
  for (const stream of [stdin, stdout, stderr]) stream?.destroy()
  if (hasExited(child)) await closed
  else child.unref()
}

/** Resolves with whether a child and its group have ended, once they have or the time is over. */
function endsWithin(child: ChildProcess, pid: number, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (hasEnded: boolean): void => {
      stopClock()
      clearInterval(timer)
      child.off("exit", look)
      resolve(hasEnded)
    }
    const look = (): void => {
      if (hasEnded()) decide(true)
    }
    const hasEnded = (): boolean => hasExited(child) && !isGroupAlive(pid)
    const stopClock = clock.after(ms, () => decide(hasEnded()))
    /** Keeps this process alive until then, too. */
    const timer = setInterval(look, LOOK_MS)
    child.on("exit", look)
    look()
  })
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
