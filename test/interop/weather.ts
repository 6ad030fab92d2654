/** The compiled example server as processes of their own: where it is, and what it says on stderr. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Place } from "./client.js"

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const probe = pathOf("./probe.js")

/** What starts the example server on standard streams. */
export const overStdio: Place = {
  transport: "stdio",
  args: ["--import", probe, pathOf("../../examples/dist/weather/stdio.js")],
}

/** The example server over HTTP, running. */
export interface HttpServer {
  readonly place: Extract<Place, { transport: "http" }>
  /** Everything on stderr so far. */
  stderr(): string
  stop(): Promise<void>
}

/** The script that serves the example over HTTP. */
const withSessions = pathOf("../../examples/dist/weather/server.js")

/** The script that serves the example over HTTP without sessions. */
export const stateless = pathOf("./stateless.js")

/** Starts the example server over HTTP on a free port, and waits until it says its URL. */
export async function startHttp(script = withSessions): Promise<HttpServer> {
  const child = spawn(process.execPath, ["--import", probe, script], { env: { ...process.env, PORT: "0" } })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stdout)
      if (found !== null) resolve(found[0])
    })
    void ended.then(() => reject(new Error(`the example server ended: ${stderr}`)))
  })
  return {
    place: { transport: "http", url },
    stderr: () => stderr,
    async stop() {
      child.kill()
      await ended
    },
  }
}
