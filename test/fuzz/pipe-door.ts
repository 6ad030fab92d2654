/** Two doors for messages on a pipe: a linked pair in memory, and a process with its standard streams. */
import { spawn } from "node:child_process"
import type { EndpointOptions, Server } from "conduit-mcp"
import { linkMemory } from "conduit-mcp/testing"

/** One end of a pipe. */
export interface PipeEnd {
  /** Sends bytes in which messages stand. Answers the messages that the other end is to find in them. */
  send(bytes: Uint8Array, cut: number): readonly Uint8Array[]
  /** Calls `listener` with every message that comes. Answers the function that ends it. */
  onMessage(listener: (text: string) => void): () => void
  close(): void
}

/** A link in memory of its own. What is sent is a text, so bytes that are none are replaced. */
export function memoryEnd(server: Server, options: EndpointOptions): PipeEnd {
  const link = linkMemory(server, options)
  return {
    send(bytes) {
      const text = Buffer.from(bytes).toString("utf8")
      link.send(text)
      return [Buffer.from(text)]
    },
    onMessage(listener) {
      link.onMessage(listener)
      return () => {}
    },
    close: () => link.close(),
  }
}

/** A process that serves on its standard streams. */
export interface PipeProcess extends PipeEnd {
  /** What it wrote to stderr. */
  readonly stderr: () => string
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>
  stop(): void
}

const NEWLINE = 0x0a

/** Starts a process that serves. Every line that it writes has to be a message. */
export function processEnd(path: string): PipeProcess {
  const child = spawn(process.execPath, ["--expose-gc", path])
  const listeners = new Set<(text: string) => void>()
  let rest = ""
  let stderr = ""
  child.stdin.on("error", () => {})
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) for (const listener of [...listeners]) listener(line)
  })
  return {
    send(bytes, cut) {
      const at = cut % Math.max(1, bytes.length)
      const line = Buffer.concat([bytes, Buffer.from(cut % 2 === 0 ? "\r\n" : "\n")])
      child.stdin.write(line.subarray(0, at))
      child.stdin.write(line.subarray(at))
      return splitLines(line)
    },
    onMessage(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => child.stdin.end(),
    stderr: () => stderr,
    ended: new Promise((resolve) => child.once("close", resolve)),
    stop: () => child.kill("SIGKILL"),
  }
}

/** The lines in some bytes that end with a line break, those without anything left out. */
function splitLines(bytes: Buffer): readonly Uint8Array[] {
  const lines: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start)
    const line = bytes.subarray(start, end)
    lines.push(line.at(-1) === 0x0d ? line.subarray(0, -1) : line)
    start = end + 1
  }
  return lines.filter(({ length }) => length > 0)
}
