/** Long work: progress, messages to the client's log, and stopping when nobody waits any more. */
import { setTimeout } from "node:timers/promises"
import { createServer, tool } from "conduit-mcp"
import { z } from "zod"

/** Calls that are at work right now. */
export const working = new Set<string>()

/**
 * Progress is sent only to a client that asked for it, log messages only to one that wants their level: a handler need not
 * care. `ctx.signal` aborts when the client cancels; hand it to whatever the handler waits for.
 */
const bake = tool(
  "bake",
  { input: z.object({ cake: z.string(), steps: z.int().min(1).default(3), stepMs: z.int().min(0).default(200) }) },
  async ({ cake, steps, stepMs }, ctx) => {
    working.add(cake)
    try {
      ctx.log.info("the oven is hot", { cake })
      for (let step = 1; step <= steps; step++) {
        await setTimeout(stepMs, undefined, { signal: ctx.signal })
        ctx.progress(step, steps, `step ${step}`)
        ctx.log.debug("one step further", { step })
      }
      return `The ${cake} is ready.`
    } finally {
      working.delete(cake)
    }
  },
)

/** A lot of messages for a slow reader: `flush` waits until they have left, so that they do not pile up in memory. */
const chatter = tool("chatter", { input: z.object({ lines: z.int().max(10_000) }) }, async ({ lines }, ctx) => {
  for (let line = 1; line <= lines; line++) {
    ctx.log.info(`line ${line}`)
    if (line % 100 === 0) await ctx.flush()
  }
  return "That was all."
})

export const server = createServer({ name: "progress", version: "1.0.0", tools: [bake, chatter] })
