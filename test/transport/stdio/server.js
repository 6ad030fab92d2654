/** A server on standard streams that prints, waits, hangs and answers at length, as its callers ask. */
import { createServer, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"
import { z } from "zod"

const echo = tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)

const print = tool("print", {}, async () => {
  console.log("a line from console.log")
  console.info("a line from console.info")
  process.stdout.write("text without a line break ")
  process.stdout.write(new TextEncoder().encode("bytes\n"))
  await new Promise((resolve) => setImmediate(resolve))
  console.log('{"jsonrpc":"2.0","method":"notifications/forged"}')
  return "printed"
})

const report = tool("report", {}, (_, ctx) => {
  ctx.progress(1, 2, "half")
  ctx.progress(2, 2, "whole")
  return "reported"
})

const end = tool("end", {}, () => {
  process.stdout.end("a farewell from a library\n")
  return "still here"
})

const wait = tool("wait", { input: z.object({ ms: z.number() }) }, async ({ ms }, ctx) => {
  ctx.progress(0, 1, "waiting")
  await new Promise((resolve) => setTimeout(resolve, ms))
  return "waited"
})

const hang = tool("hang", {}, async (_, ctx) => {
  console.error("hang: started")
  ctx.progress(0)
  setInterval(() => {}, 1_000)
  return new Promise((_resolve, reject) => {
    ctx.signal.addEventListener("abort", () => {
      console.error(`hang: aborted, ${ctx.signal.reason.message}`)
      reject(ctx.signal.reason)
    })
  })
})

const idle = tool("idle", {}, async (_, ctx) => {
  console.error("idle: started")
  return new Promise((_resolve, reject) => {
    ctx.signal.addEventListener("abort", () => {
      console.error("idle: aborted")
      reject(ctx.signal.reason)
    })
  })
})

const big = tool("big", { input: z.object({ bytes: z.number() }) }, ({ bytes }) => "x".repeat(bytes))

const server = createServer({
  name: "stdio",
  version: "1.0.0",
  tools: [echo, print, report, end, wait, hang, idle, big],
})
const maxLineBytes = Number(process.env.MAX_LINE_BYTES ?? 10 << 20)
serveStdio(server, { limits: { maxLineBytes } })
