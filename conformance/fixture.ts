/** The server under test as a child process on a free port of this machine. */
import { spawn } from "node:child_process"
import { createWriteStream, existsSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

/** The fixture server, running. */
export interface Fixture {
  readonly url: string
  stop(): Promise<void>
}

const URL_LINE = /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/\S*/

/** The path of a compiled fixture; throws when it is not there. */
export function fixturePath(name: "server" | "client"): string {
  const path = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  if (existsSync(path)) return path
  throw new Error(`conformance/${name}.ts does not exist yet: there is no ${name} to test.`)
}

/** Starts the fixture server and waits until it prints its URL. What it prints on stderr goes to `logPath`. */
export async function startFixture(logPath: string, timeoutMs = 20_000): Promise<Fixture> {
  const child = spawn(process.execPath, [fixturePath("server")], { env: { ...process.env, PORT: "0" } })
  child.stdin.end()
  child.stderr.pipe(createWriteStream(logPath))
  const ended = new Promise<undefined>((resolve) => child.on("close", () => resolve(undefined)))
  const stop = async () => {
    child.kill()
    await ended
  }
  const printed = new Promise<string>((resolve) => {
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      const found = URL_LINE.exec(text)
      if (found !== null) resolve(found[0])
    })
  })
  const url = await Promise.race([printed, ended, setTimeout(timeoutMs, undefined, { ref: false })])
  if (url !== undefined) return { url, stop }
  await stop()
  throw new Error(`The fixture server printed no URL in ${timeoutMs} ms, or ended before; see ${logPath}`)
}
