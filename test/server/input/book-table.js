/** A server that books tables by asking, on standard streams (`stdio`) or on a free port (`http`, the URL on stderr). */
import { createServer, fail, isSuspended, tool } from "conduit-mcp"
import { serve, serveStdio } from "conduit-mcp/node"
import { z } from "zod"

/** What the restaurant has seen. */
const seen = { held: 0, released: 0, confirmed: 0, open: 0 }

function placeHold(party, day) {
  seen.held++
  seen.open++
  return { table: 4 + seen.held, party, day: new Date(`${day}T00:00:00Z`) }
}

function release(hold) {
  if (hold.isConfirmed) return
  seen.released++
  seen.open--
}

const input = z.object({ party: z.number() })
const when = z.object({ day: z.iso.date() })
const sure = z.object({ yes: z.boolean() })

async function book({ party }, ctx) {
  const chosen = await ctx.elicit("When?", when)
  if (chosen.action !== "accept") return fail("not booked")
  const hold = await ctx.once("hold", () => placeHold(party, chosen.content.day))
  ctx.onEnd(() => release(hold))
  const confirmed = await ctx.elicit(`Table for ${hold.party} on ${hold.day.slice(0, 10)}, confirm?`, sure)
  if (confirmed.action !== "accept" || !confirmed.content.yes) return fail("released")
  await ctx.once("book", () => {
    seen.confirmed++
  })
  hold.isConfirmed = true
  return { party: hold.party, day: hold.day.slice(0, 10) }
}

/** The same, by somebody who catches whatever comes. */
async function bookCarelessly(args, ctx) {
  try {
    return await book(args, ctx)
  } catch {
    return fail("something went wrong")
  }
}

/** The same, by somebody who catches with care. */
async function bookCarefully(args, ctx) {
  try {
    return await book(args, ctx)
  } catch (error) {
    if (isSuspended(error)) throw error
    return fail("something went wrong")
  }
}

const server = createServer({
  name: "restaurant",
  version: "1.0.0",
  tools: [
    tool("book_table", { input }, book),
    tool("book_carelessly", { input }, bookCarelessly),
    tool("book_carefully", { input }, bookCarefully),
    tool("look", {}, () => ({ ...seen })),
  ],
})

if (process.argv[2] === "http") console.error((await serve(server, { port: 0 })).url)
else serveStdio(server)
