/** Why a child could not be started, and how it died: what came to an end, why, and what it said last. */
import { existsSync } from "node:fs"
import { McpError } from "../../core/error/error.js"
import { clampText, lastWords } from "../../core/feature/text.js"
import type { SpawnOptions } from "./spawn.js"

/** What is known of a child that is gone. */
export interface LastWords {
  /** The command, as errors name it. */
  readonly origin: string
  /** What was the matter, or the error that says it already. */
  readonly matter: string | McpError
  readonly exitCode: number | null
  readonly signalCode: string | null
  /** The last lines of its stderr. */
  readonly stderr: readonly string[]
}

/** The error of a child that is gone. */
export function died({ origin, matter, exitCode, signalCode, stderr }: LastWords): McpError {
  const said = lastWords(stderr)
  const data = { exitCode, signal: signalCode, stderr }
  if (typeof matter !== "string") {
    const { message, kind, reason } = matter
    return new McpError(message + said, { kind, reason, data })
  }
  const hasExited = exitCode !== null || signalCode !== null
  const how = signalCode === null ? `exited with code ${exitCode}` : `was ended by ${signalCode}`
  return new McpError(`${origin} ${hasExited ? how : matter}${said}`, {
    kind: "connection_down",
    reason: hasExited ? "process_exited" : "pipe_closed",
    data,
    retryable: true,
  })
}

/** What helps, by the system's code for why a program does not start. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: "it was not found: check its name, that it is installed, and that it is in the PATH of `env`",
  EACCES: "it may not be run: check that it is a program and that this user may execute it",
  EMFILE: "this process has too many files open",
  ENFILE: "this machine has too many files open",
  EAGAIN: "this machine runs too many processes",
  ENOMEM: "this machine is out of memory",
  E2BIG: "its arguments and environment are too long",
  ERR_INVALID_ARG_VALUE: "an argument or a variable holds a null byte",
}

/**
 * The error of a command that does not start: reason `cannot_spawn`. It names the command only, because there may be secrets
 * in the arguments and the environment; so the system's own error, which repeats them, is no part of it.
 */
export function cannotSpawn({ command, cwd }: SpawnOptions, error: unknown): McpError {
  const code = codeOf(error)
  const isLost = code === "ENOENT" && cwd !== undefined && !existsSync(cwd)
  const why = isLost ? `there is no folder ${clampText(cwd)} (cwd)` : (ADVICE[code] ?? "the system refused to")
  return new McpError(`cannot start ${clampText(command)}: ${why} (${code})`, {
    kind: "transport",
    reason: "cannot_spawn",
    data: { command: clampText(command), code },
  })
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown"
}
