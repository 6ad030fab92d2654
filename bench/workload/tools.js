// The tools that every adapter serves: the same names, schemas and work for all of them.
import { z } from "zod"

/**
 * A tool before any library has seen it.
 * @typedef {object} ToolSpec
 * @property {string} name
 * @property {string} description
 * @property {z.ZodObject} schema
 * @property {(args: Record<string, any>) => string} run
 */

/** @type {readonly ToolSpec[]} */
const CALLED = [
  {
    name: "echo",
    description: "Return the given text",
    schema: z.object({ text: z.string() }),
    run: ({ text }) => text,
  },
  {
    name: "len",
    description: "Return the length of the given text",
    schema: z.object({ text: z.string() }),
    run: ({ text }) => String(text.length),
  },
]

/** @returns {ToolSpec} a tool that is only listed */
function makeFiller(index) {
  return {
    name: `tool_${index}`,
    description: `Search the collection number ${index} and return the best matches`,
    schema: z.object({
      query: z.string().describe("What to look for"),
      limit: z.number().int().min(1).max(100).optional().describe("How many results at most"),
      tags: z.array(z.string()).optional().describe("Only results with all of these tags"),
      mode: z.enum(["fast", "exact"]).optional().describe("How to search"),
    }),
    run: ({ query }) => query,
  }
}

/**
 * The first `count` tools: `echo`, `len`, then fillers.
 * @returns {ToolSpec[]}
 */
export function makeTools(count = 2) {
  const tools = CALLED.slice(0, count)
  for (let index = tools.length; index < count; index++) tools.push(makeFiller(index))
  return tools
}

/** A tool result with one text, for libraries whose handlers return the protocol's own shape. */
export function textResult(text) {
  return { content: [{ type: "text", text }] }
}
