// fastmcp, on version 1 of the official SDK: `node fastmcp.js stdio`, or `http`, where it serves the deprecated transport too.
import { FastMCP, UserError } from "fastmcp"
import { z } from "zod"
import {
  complete,
  dot,
  greeting,
  INSTRUCTIONS,
  identity,
  note,
  page,
  person,
  prompt,
  question,
  wait,
  witness,
} from "./content.js"

const quiet = () => {}
const logger = { debug: quiet, error: quiet, info: quiet, log: quiet, warn: quiet }

function build() {
  const server = new FastMCP({ ...identity("fastmcp"), instructions: INSTRUCTIONS, ping: { enabled: false }, logger })
  addTools(server)
  addQuestions(server)
  addResources(server)
  server.addPrompt({
    name: "greet",
    arguments: [{ name: "name", required: true, complete: async (value) => ({ values: complete(value) }) }],
    load: async ({ name }) => greeting(name),
  })
  return server
}

function addTools(server) {
  const key = z.object({ key: z.string() })
  server.addTool({ name: "echo", parameters: z.object({ text: z.string() }), execute: async ({ text }) => text })
  server.addTool({
    name: "add",
    parameters: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    execute: async ({ a, b }) => ({ sum: a + b }),
  })
  server.addTool({
    name: "fail",
    execute: async () => {
      throw new UserError("it did not work")
    },
  })
  server.addTool({
    name: "count",
    parameters: z.object({ to: z.number() }),
    async execute({ to }, { reportProgress }) {
      for (let progress = 1; progress <= to; progress++) {
        await reportProgress({ progress, total: to, message: `at ${progress}` })
      }
      return `counted to ${to}`
    },
  })
  server.addTool({
    name: "chat",
    async execute(_args, { log }) {
      log.debug("quiet")
      log.warn("loud", { said: "loud" })
      return "chatted"
    },
  })
  server.addTool({
    name: "wait",
    parameters: key,
    async execute({ key }, { reportProgress, signal }) {
      const waiting = wait(key, signal)
      await reportProgress({ progress: 1 })
      return await waiting
    },
  })
  server.addTool({
    name: "change",
    async execute(_args, { sessionId }) {
      await sessionOf(server, sessionId)
      await server.sendResourceUpdated(note.uri)
      return "changed"
    },
  })
  server.addTool({ name: "witness", parameters: key, execute: async ({ key }) => await witness(key) })
}

/** The session of a call. The library lists it only some time after its client has connected. */
function sessionOf(server, sessionId) {
  const find = () => server.sessions.find((session) => session.sessionId === sessionId)
  return new Promise((resolve) => {
    const look = () => {
      const found = find()
      if (found === undefined) return
      server.off("connect", look)
      resolve(found)
    }
    server.on("connect", look)
    look()
  })
}

function addQuestions(server) {
  const add = (name, ask) => {
    server.addTool({ name, execute: async (_args, context) => JSON.stringify(await ask(context)) })
  }
  add("ask", ({ elicit }) => elicit(question))
  add("visit", ({ elicit }) => elicit({ mode: "url", ...page }))
  add("think", async ({ sessionId }) => (await sessionOf(server, sessionId)).requestSampling(prompt))
  add("roots", async ({ sessionId }) => ({ roots: (await sessionOf(server, sessionId)).roots }))
}

function addResources(server) {
  for (const { uri, name, mimeType, ...content } of [note, dot]) {
    server.addResource({ uri, name, mimeType, load: async () => content })
  }
  server.addResourceTemplate({
    uriTemplate: "people://{name}",
    name: "person",
    mimeType: "text/plain",
    arguments: [{ name: "name", required: true, complete: async (value) => ({ values: complete(value) }) }],
    load: async ({ name }) => ({ text: person(name) }),
  })
}

const [mode] = process.argv.slice(2)
const transport =
  mode === "stdio" ? { transportType: "stdio" } : { transportType: "httpStream", httpStream: { port: 8080 } }
await build().start(transport)
