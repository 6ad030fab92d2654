/** The builder: tools that come, change and go while the server runs. A call that is under way keeps what it started with. */
import { createServer, type Entry, fail } from "conduit-mcp"
import { z } from "zod"

export const server = createServer({ name: "builder", version: "1.0.0" })

const learned = new Map<string, Entry<{ readonly description?: string }>>()

server.tool(
  "learn",
  { description: "Learns a trick", input: z.object({ name: z.string(), says: z.string() }) },
  ({ name, says }) => {
    const known = learned.get(name)
    if (known !== undefined) {
      known.update({ description: `Says: ${says} (as I heard again)` })
      return `I knew ${name} already.`
    }
    learned.set(
      name,
      server.tool(name, { description: `Says: ${says}` }, () => says),
    )
    return `I learned ${name}.`
  },
)

server.tool("forget", { description: "Forgets a trick", input: z.object({ name: z.string() }) }, ({ name }) => {
  const known = learned.get(name)
  if (known === undefined) return fail(`I never knew ${name}.`)
  known.remove()
  learned.delete(name)
  return `I forgot ${name}.`
})

/** Resources, templates and prompts are built in the same way. */
server.resource("tricks:///all", { name: "tricks" }, () => [...learned.keys()])
