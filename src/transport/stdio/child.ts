/**
 * A server that runs as a child process, as a duct: messages go to its stdin and come from its stdout, and its end is told
 * once everything that it said before was read.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import type { ChildProcess } from "node:child_process"
import type { ClientLimits } from "../../client/limits.js"
import { McpError } from "../../core/error/error.js"
import { createLineReader, type LineReader } from "../../core/wire/lines.js"
import type { Clock } from "../../store/port.js"
import type { Duct, DuctListener } from "../pipe-link.js"
import { cannotSpawn, died, type LastWords } from "./child-error.js"
import { endChild } from "./end.js"
import { guardGroup } from "./group.js"
import { type SpawnOptions, spawnChild } from "./spawn.js"
import { createStderrLines, type StderrLines, showable } from "./stderr.js"

/** The parts of a {@link ChildDuct}. */
export interface ChildParts {
  /** The command, as errors name it. */
  readonly origin: string
  readonly spawn: SpawnOptions
  /** Hears each line of the child's stderr; undefined when they are noise. */
  readonly onStderr: ((line: string) => void) | undefined
  readonly limits: ClientLimits
  readonly clock: Clock
}

/** How long what a child said before its end is waited for: what it started may hold on to the pipe for ever. */
const DRAIN_MS = 500

/** See the file's comment. */
export class ChildDuct implements Duct {
  readonly #parts: ChildParts
  readonly #stderr: StderrLines
  #child: ChildProcess | undefined
  #listener: DuctListener | undefined
  #pending = ""
  /** Whether its end has begun: what is sent from then on is lost, as its answer would be. */
  #isEnding = false
  #isOver = false
  /** Whether its output has ended. */
  #hasSpoken = false
  /** What was the matter with it first, when that was not its end. */
  #matter: string | McpError = "is gone"
  #stopWaiting = (): void => {}
  #unguard = (): void => {}
  #closed: Promise<unknown> = Promise.resolve()
  #down: Promise<void> | undefined

  constructor(parts: ChildParts) {
    this.#parts = parts
    this.#stderr = createStderrLines(parts.limits.stderrLines, (line) => this.#hearStderr(line))
  }

  open(listener: DuctListener): Promise<void> {
    this.#listener = listener
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        this.#isOver = true
        reject(cannotSpawn(this.#parts.spawn, error))
      }
      try {
        const child = spawnChild(this.#parts.spawn)
        child.once("error", fail).once("spawn", () => {
          child.off("error", fail).on("error", (error) => this.#beginEnd(cannotSpawn(this.#parts.spawn, error)))
          resolve()
        })
        this.#attach(child)
      } catch (error) {
        fail(error)
      }
    })
  }

  get stderr(): readonly string[] {
    return [...this.#stderr.last]
  }

  send(text: string): McpError | undefined {
    const stdin = this.#child?.stdin
    if (this.#isEnding || stdin === undefined || stdin === null) return undefined
    const waiting = 2 * (stdin.writableLength + this.#pending.length)
    if (waiting > this.#parts.limits.maxUnsentBytes) return this.#refuse(waiting)
    if (this.#pending === "") process.nextTick(this.#flush)
    this.#pending += `${text}\n`
    return undefined
  }

  close(): Promise<void> {
    this.#isOver = true
    this.#stopWaiting()
    return this.#bringDown()
  }

  /** Writes what one turn has gathered in one piece. */
  readonly #flush = (): void => {
    const text = this.#pending
    this.#pending = ""
    if (text !== "") this.#child?.stdin?.write(text)
  }

  #attach(child: ChildProcess): void {
    const { pid, stdin, stdout, stderr } = child
    this.#child = child
    this.#closed = new Promise((resolve) => child.once("close", resolve))
    if (pid !== undefined) this.#unguard = guardGroup(pid)
    const reader = this.#createReader(child)
    const outputEnded = (): void => {
      this.#hasSpoken = true
      reader.end()
      this.#beginEnd("closed its output")
    }
    stdin?.on("error", () => this.#beginEnd("does not read its input any more"))
    stdout?.on("data", (chunk: Uint8Array) => reader.push(chunk))
    stdout?.on("end", outputEnded).on("error", outputEnded)
    stderr?.on("data", (chunk: Uint8Array) => this.#stderr.push(chunk))
    stderr?.on("end", () => this.#stderr.end()).on("error", () => {})
    child.on("exit", () => this.#beginEnd(undefined)).on("close", () => this.#finish())
  }

  #createReader(child: ChildProcess): LineReader {
    const { maxMessageBytes } = this.#parts.limits
    return createLineReader(maxMessageBytes, {
      line: (bytes) => (this.#hasSpoken ? this.#listener?.rest(bytes) : this.#listener?.line(bytes)),
      tooLong: (length, ends) => this.#listener?.tooLong(length, ends),
      overflow: (length) => {
        const what = `sent ${length} bytes without a line break, at most ${maxMessageBytes} are read as one message`
        const text = `${this.#parts.origin} ${what} (limits.maxMessageBytes)`
        this.#matter = new McpError(text, { kind: "transport", reason: "message_too_large" })
        child.stdout?.destroy()
        this.#finish()
      },
    })
  }

  #hearStderr(line: string): void {
    const { onStderr } = this.#parts
    if (onStderr === undefined) return this.#listener?.noise({ from: "stderr", text: showable(line) })
    try {
      onStderr(line)
    } catch (error) {
      this.#listener?.noise({ from: "stderr", text: `what hears stderr has failed: ${showable(String(error))}` })
    }
  }

  /** Waits a while for the rest of its output, and for its exit code. */
  #beginEnd(matter: string | McpError | undefined): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (matter !== undefined) this.#matter = matter
    if (!this.#isOver) this.#stopWaiting = this.#parts.clock.after(DRAIN_MS, () => this.#finish())
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isEnding = true
    this.#stopWaiting()
    const error = died(this.#lastWords())
    void this.#bringDown()
    this.#listener?.gone(error)
  }

  #lastWords(): LastWords {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    return { origin: this.#parts.origin, matter: this.#matter, exitCode, signalCode, stderr: this.#stderr.last }
  }

  #bringDown(): Promise<void> {
    this.#flush()
    this.#isEnding = true
    this.#down ??= this.#end()
    return this.#down
  }

  async #end(): Promise<void> {
    const { limits, clock } = this.#parts
    const child = this.#child
    if (child !== undefined) await endChild({ child, closed: this.#closed, exitMs: limits.exitMs, clock })
    this.#unguard()
  }

  #refuse(waiting: number): McpError {
    const { origin, limits } = this.#parts
    const what = `does not read its input: ${waiting} bytes wait for it, at most ${limits.maxUnsentBytes} may`
    return new McpError(`${origin} ${what} (limits.maxUnsentBytes)`, {
      kind: "transport",
      reason: "overloaded",
      retryable: true,
    })
  }
}
