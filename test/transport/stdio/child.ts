/** A server as a child process, driven by raw bytes on its standard streams. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Json } from "../../support/wire.js"

/** How the process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running server. */
export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Every line of stdout so far, as it came. */
  readonly lines: readonly string[]
  /** Everything on stderr so far. */
  readonly stderr: string
  /** Resolves once the process has ended and its streams are read. */
  readonly ended: Promise<Ended>
  /** Writes bytes and resolves once the pipe has taken them. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Writes messages, each with a line break, in one piece. */
  send(...messages: readonly unknown[]): Promise<void>
  /** Sends a request and waits for the response with its id. */
  request(message: Json): Promise<Json>
  /** The first message, received already or later, that `matches`; rejects when the process ends without one. */
  next(matches: (message: Json) => boolean): Promise<Json>
  /** Resolves once stderr has this text; rejects when the process ends without it. */
  says(text: string): Promise<void>
  /** Ends its input. */
  end(): void
  /** Ends the process, if it has not ended. */
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

/** The path of a fixture in this folder. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Starts `node` with these arguments, in the folder of the package. */
export function startNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  return new RunningChild(spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } }))
}

interface Waiter {
  check(): boolean
  fail(error: Error): void
}

class RunningChild implements Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly lines: string[] = []
  readonly ended: Promise<Ended>
  stderr = ""
  readonly #messages: Json[] = []
  #waiters: Waiter[] = []
  #rest: string[] = []
  #over: Error | undefined

  constructor(child: ChildProcessWithoutNullStreams) {
    this.process = child
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text
      this.#wake()
    })
    this.ended = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        if (this.#rest.length > 0) this.lines.push(this.#rest.join(""))
        this.#over = new Error(`the process ended (${code ?? signal}); stderr: ${this.stderr}`)
        for (const waiter of this.#waiters.splice(0)) waiter.fail(this.#over)
        resolve({ code, signal })
      })
    })
  }

  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.process.stdin.write(bytes, () => resolve()))
  }

  send(...messages: readonly unknown[]): Promise<void> {
    return this.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
  }

  async request(message: Json): Promise<Json> {
    await this.send(message)
    return this.next((answer) => answer["id"] === message["id"] && answer["method"] === undefined)
  }

  next(matches: (message: Json) => boolean): Promise<Json> {
    return this.#wait(() => this.#messages.find(matches))
  }

  async says(text: string): Promise<void> {
    await this.#wait(() => (this.stderr.includes(text) ? true : undefined))
  }

  end(): void {
    this.process.stdin.end()
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill("SIGKILL")
    this.process.stdout.resume()
    this.process.stderr.resume()
    await this.ended
  }

  #read(text: string): void {
    const [first = "", ...others] = text.split("\n")
    if (first !== "") this.#rest.push(first)
    for (const other of others) {
      const line = this.#rest.join("")
      this.#rest = other === "" ? [] : [other]
      this.lines.push(line)
      const message = toMessage(line)
      if (message !== undefined) this.#messages.push(message)
    }
    this.#wake()
  }

  #wake(): void {
    this.#waiters = this.#waiters.filter((waiter) => !waiter.check())
  }

  #wait<T>(find: () => T | undefined): Promise<T> {
    const known = find()
    if (known !== undefined) return Promise.resolve(known)
    if (this.#over !== undefined) return Promise.reject(this.#over)
    return new Promise<T>((resolve, reject) => {
      const check = (): boolean => {
        const found = find()
        if (found !== undefined) resolve(found)
        return found !== undefined
      }
      this.#waiters.push({ check, fail: reject })
    })
  }
}

/** A line as a message; undefined when it is something else that was printed. */
function toMessage(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? (value as Json) : undefined
  } catch {
    return undefined
  }
}
