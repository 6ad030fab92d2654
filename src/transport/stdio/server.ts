/** A server on this process's standard streams. */
import { setTimeout as wait } from "node:timers/promises"
import { resolveLimits } from "../../core/limits.js"
import { createLineReader } from "../../core/wire/lines.js"
import type { EndpointOptions } from "../../server/options.js"
import { createSystemClock } from "../../store/clock.js"
import type { Servable } from "../http/front.js"
import { createPipe } from "../pipe.js"
import type { Channel } from "../port.js"
import { createShutdown, type Drained, onAbort } from "../shutdown.js"
import { decodeUtf8 } from "../utf8.js"
import { guardStdout, type RawWrite } from "./stdout.js"

/** Options of {@link serveStdio}. */
export interface StdioOptions extends Omit<EndpointOptions, "sessions" | "resumable"> {
  /** Drains the server when it aborts. */
  readonly signal?: AbortSignal
  /** Ends the process once the input has ended. Default true. */
  readonly exit?: boolean
}

/** A server that reads standard input. */
export interface RunningStdio {
  /** Resolves once it has stopped. */
  readonly closed: Promise<void>
  /**
   * Goes down without cutting a call: new requests are refused, streams of changes end, calls go on for `ms` (default
   * `limits.drainMs`, 10 seconds), and those that are left then are aborted. Does not end the process. Called again, it answers
   * the same.
   */
  drain(ms?: number): Promise<Drained>
  /** Stops at once: what runs is aborted. Does not end the process. */
  close(): Promise<void>
}

/**
 * How long answers that are still being made may take once the input has ended. A timer of its own keeps the process alive
 * until then, so that handlers hear that they are aborted.
 */
const GRACE_MS = 500

/** How long an answer stays behind the last message that its call sent before: enough for a client that waits to read that. */
const APART_MS = 1

/**
 * Serves both eras on standard input and output. From then on nothing but MCP is written to stdout; what is printed goes to
 * stderr. Once the input ends, what runs may finish within half a second, the rest is aborted, and the process exits with 0.
 *
 * @example
 * serveStdio(server)
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function serveStdio(server: Servable, options: StdioOptions = {}): RunningStdio {
  const { signal, exit = true, ...rest } = options
  const limits = resolveLimits(rest.limits)
  const clock = rest.clock ?? createSystemClock()
  const endpoint = server.endpoint({ ephemeralState: true, ...rest, clock })
  const shutdown = createShutdown(endpoint, clock, limits.drainMs)
  const { stdin, stdout } = process
  const channel = createStdoutChannel(guardStdout())
  const settle = async (): Promise<void> => {
    await channel.flush()
    await wait(APART_MS)
  }
  const pipe = createPipe({ endpoint, channel, limits, decode: decodeUtf8, settle })
  const reader = createLineReader(limits.maxLineBytes, {
    line: (bytes) => pipe.receive(bytes),
    tooLong: (length) => pipe.refuseLength(length),
    overflow(length) {
      server.logger.error("standard input was closed: no line break came", { bytes: length })
      stop(1)
    },
  })

  let resolveClosed: () => void = () => {}
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve
  })
  let stopping = false
  const stop = (code: number | undefined): void => {
    if (stopping) return
    stopping = true
    stdin.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onEnd).pause()
    shutdown.close()
    void settle().then(async () => {
      pipe.close()
      await channel.flush()
      stdout.off("error", onBroken)
      resolveClosed()
      if (exit && code !== undefined) process.exit(code)
    })
  }
  const onData = (chunk: Uint8Array): void => reader.push(chunk)
  let ended = false
  const onEnd = (): void => {
    if (ended) return
    ended = true
    reader.end()
    const timer = setTimeout(stop, GRACE_MS, 0)
    pipe.whenIdle(() => {
      clearTimeout(timer)
      stop(0)
    })
  }
  const onBroken = (): void => stop(0)

  stdin.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd)
  stdout.on("error", onBroken)
  const drain = async (ms?: number): Promise<Drained> => {
    const drained = await shutdown.drain(ms)
    stop(undefined)
    await closed
    return drained
  }
  if (signal?.aborted === true) stop(undefined)
  else void closed.then(onAbort(signal, () => void drain()))
  return {
    closed,
    drain,
    close() {
      stop(undefined)
      return closed
    },
  }
}

/** Writes lines to stdout, those of one turn of the event loop together. */
function createStdoutChannel(write: RawWrite): Channel {
  let pending = ""
  let unwritten = 0
  let waiting: (() => void)[] = []
  const written = (): void => {
    unwritten--
    if (unwritten > 0 || pending !== "") return
    for (const resolve of waiting.splice(0)) resolve()
    waiting = []
  }
  const flushNow = (): void => {
    const text = pending
    pending = ""
    unwritten++
    write(text, written)
  }
  return {
    send(text) {
      if (pending === "") setImmediate(flushNow)
      pending += `${text}\n`
    },
    flush: () =>
      pending === "" && unwritten === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    close() {},
  }
}
