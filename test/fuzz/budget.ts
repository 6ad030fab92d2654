/**
 * How long things are thrown, from which seed, and what has to hold when it is over.
 *
 * All doors together take `FUZZ_SECONDS`. Without it a run is the same every time: one fixed seed, and so many values at most. A
 * longer run draws its seed, prints it, and is repeated by `FUZZ_SEED`.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Logger, Watchable } from "conduit-mcp"
import fc from "fast-check"
import { expect } from "vitest"
import { assert } from "./judge.js"
import { isMeant } from "./target.js"

/** What a run may leave on the heap of a process that also made and judged it. */
export const MAX_GROWTH_BYTES = 6 << 20

const DOORS = 4
const seconds = Number(process.env["FUZZ_SECONDS"] ?? 20) / DOORS
const FIXED_SEED = 20_260_728
const FIXED_RUNS = 300
const isFixed = process.env["FUZZ_SECONDS"] === undefined
const drawn = isFixed ? FIXED_SEED : Date.now() | 0
const seed = Number(process.env["FUZZ_SEED"] ?? drawn)

/** How long a test of one door may take: its share, and time to come to rest. */
export const DOOR_TIMEOUT_MS = seconds * 1_000 + 60_000

/** Lets `run` have arbitrary values until the door's time is over; the first that fails is shrunk and shown. */
export async function throwAt<T>(
  door: string,
  tally: Tally,
  arbitrary: fc.Arbitrary<T>,
  run: (value: T) => Promise<void>,
): Promise<void> {
  let runs = 0
  let last: Promise<void> | undefined
  const runOnce = async (value: T): Promise<void> => {
    runs++
    await run(value)
    assert(({} as { polluted?: unknown }).polluted === undefined, "no prototype was changed", {})
    assert(Object.keys(Object.prototype).length === 0, "no prototype was changed", Object.keys(Object.prototype))
  }
  const property = fc.asyncProperty(arbitrary, (value) => {
    last = runOnce(value)
    return last
  })
  await fc.assert(property, {
    seed,
    numRuns: isFixed ? FIXED_RUNS : Number.POSITIVE_INFINITY,
    interruptAfterTimeLimit: seconds * 1_000,
    markInterruptAsFailure: false,
  })
  // The time may be over while a round is played; it is played to its end.
  await last
  const kinds = isFixed ? `${tally.seen.length} kinds of answer` : `${tally}`
  console.log(`${door}: ${runs} rounds from FUZZ_SEED=${seed}, ${kinds}`)
}

/** What came back, counted, so that a run shows how far its inputs got. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  get seen(): readonly string[] {
    return [...this.#counts.keys()]
  }

  toString(): string {
    return [...this.#counts]
      .sort()
      .map(([what, count]) => `${what} ${count}`)
      .join(", ")
  }
}

/** Rejections that nobody handled, since this was made. */
export function watchRejections(): { readonly seen: unknown[]; stop(): void } {
  const seen: unknown[] = []
  const listener = (reason: unknown): void => void seen.push(reason)
  process.on("unhandledRejection", listener)
  return { seen, stop: () => void process.off("unhandledRejection", listener) }
}

/** A logger that remembers every error that was not thrown on purpose. */
export function createWatchfulLogger(): Logger & { readonly unexpected: unknown[] } {
  const unexpected: unknown[] = []
  return {
    unexpected,
    debug() {},
    info() {},
    warn() {},
    error(message, fields) {
      if (!isMeant(message, fields)) unexpected.push({ message, fields })
    },
  }
}

/** What lasts on a server: everything that began and has not ended. */
export interface Lasting {
  readonly open: ReadonlySet<unknown>
}

/** Watches what lasts on a server. */
export function watchLasting(server: Watchable): Lasting {
  const open = new Set<unknown>()
  server.on("server.request.start", ({ request }) => open.add(request))
  server.on("server.request.stop", ({ request }) => open.delete(request))
  server.on("server.request.exception", ({ request }) => open.delete(request))
  server.on("server.session.start", ({ session }) => open.add(session))
  server.on("server.session.stop", ({ session }) => open.delete(session))
  server.on("server.stream.start", ({ stream }) => open.add(stream))
  server.on("server.stream.stop", ({ stream }) => open.delete(stream))
  return { open }
}

/** Resolves once nothing lasts any more. */
export async function comesToRest({ open }: Lasting): Promise<void> {
  await expect.poll(() => [...open], { interval: 20, timeout: 20_000 }).toEqual([])
}

setFlagsFromString("--expose_gc")
const collect = runInNewContext("gc") as () => void

/** The bytes in use on the heap, once everything that can be freed is. */
export async function heapBytes(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
