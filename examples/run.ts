/** Serves one of the stories over HTTP: `npm start -w examples -- tools`. `PORT` chooses the port; the default is 3000. */
import type { Server } from "conduit-mcp"
import { type ServeOptions, serve } from "conduit-mcp/node"
import { auth, server as authServer } from "./auth/server.js"
import { server as builder } from "./builder/server.js"
import { server as eras } from "./eras/server.js"
import { server as errors } from "./errors/server.js"
import { createGateway } from "./gateway/server.js"
import { server as pagination } from "./pagination/server.js"
import { server as progress } from "./progress/server.js"
import { server as prompts } from "./prompts/server.js"
import { server as resources } from "./resources/server.js"
import { server as schemas } from "./schemas/server.js"
import { server as structuredOutput } from "./structured-output/server.js"
import { server as tools } from "./tools/server.js"

const stories: Readonly<Record<string, readonly [server: Server, options?: ServeOptions]>> = {
  auth: [authServer, { auth }],
  builder: [builder],
  eras: [eras],
  errors: [errors],
  gateway: [createGateway(process.env["UPSTREAM"] ?? "http://127.0.0.1:3000/mcp")],
  pagination: [pagination],
  progress: [progress],
  prompts: [prompts],
  resources: [resources],
  schemas: [schemas],
  "structured-output": [structuredOutput],
  tools: [tools],
}

const name = process.argv[2] ?? ""
const story = stories[name]
if (story === undefined) {
  console.error(`Which story? One of ${Object.keys(stories).join(", ")}`)
  process.exitCode = 2
} else {
  const [server, options] = story
  const running = await serve(server, { ...options, port: Number(process.env["PORT"] ?? 3000) })
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void running.close())
  console.log(`${name}: ${running.url}`)
}
