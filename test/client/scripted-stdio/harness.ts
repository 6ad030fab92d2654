/** An application's client on scripted processes, with a clock that stands still, everything that they got, and all that may be left of them. */
import { readFileSync, watch, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Client, type ClientEvents, type ConnectOptions, connect, type StdioCommand } from "conduit-mcp/client"
import { afterEach, expect } from "vitest"
import { createManualClock, type ManualClock } from "../../support/clock.js"
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.js"
import type { Json } from "../../support/wire.js"
import { isRunning } from "../../transport/stdio/link.js"

/** One thing that a peer does; see `child-peer.js`. */
export type Act = Readonly<Record<string, unknown>>
/** What a peer does in order when a message comes. */
export type Step = readonly Act[]
/** Steps by method, each list used up from its front, its last step again and again. */
export type Script = Readonly<Record<string, readonly Step[]>>

/** What a peer is made of. */
export interface PeerOptions {
  /** What it does before anything comes. */
  readonly start?: Step
  /** Whether it goes on after the end of its input. */
  readonly ignoreEnd?: boolean
  /** Whether it goes on after SIGTERM. */
  readonly ignoreTerm?: boolean
}

const CHILD_PEER = fileURLToPath(new URL("../../support/child-peer.js", import.meta.url))

/** A command that runs scripted processes. */
export class Peer {
  readonly command: StdioCommand
  readonly #log: string

  constructor(folder: string, script: Script | readonly Script[], options: PeerOptions) {
    this.#log = join(folder, "log")
    writeFileSync(this.#log, "")
    const args = [CHILD_PEER, JSON.stringify({ log: this.#log, script, ...options })]
    this.command = { command: process.execPath, args }
  }

  /** Every line that any of its processes got, byte for byte. */
  get lines(): string[] {
    return this.#all().filter((line) => !line.startsWith("#"))
  }

  /** The lines of each process by itself. */
  get lives(): string[][] {
    const lives: string[][] = []
    for (const line of this.#all()) {
      if (line.startsWith("# started ")) lives.push([])
      else if (!line.startsWith("#")) lives.at(-1)?.push(line)
    }
    return lives
  }

  /** What came, one entry for each message: its method or what it is, and its id. */
  get log(): string[] {
    return this.lines.map(describeLine)
  }

  /** Its processes, and those that they started. */
  get pids(): number[] {
    return this.#all().flatMap((line) => {
      const [, pid] = /^# (?:started|grandchild) (\d+)$/.exec(line) ?? []
      return pid === undefined ? [] : Number(pid)
    })
  }

  /** Resolves once `holds` does, which is looked at whenever a process wrote down something. */
  async until(holds: () => boolean): Promise<void> {
    const watcher = watch(this.#log)
    try {
      while (!holds()) await new Promise((resolve) => watcher.once("change", resolve))
    } finally {
      watcher.close()
    }
  }

  /** Resolves once so many lines came. */
  heard(count: number): Promise<void> {
    return this.until(() => this.lines.length >= count)
  }

  /** Resolves once a process noted this: that its input ended (`end`), or a signal. */
  noted(text: string, times = 1): Promise<void> {
    return this.until(() => this.#all().filter((line) => line === `# ${text}`).length >= times)
  }

  #all(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").slice(0, -1)
  }
}

function describeLine(line: string): string {
  const { id, method, params, error } = JSON.parse(line) as Json
  if (method === "notifications/cancelled") return `cancelled ${String((params as Json)["requestId"])}`
  if (method !== undefined) return id === undefined ? String(method) : `${String(method)} ${JSON.stringify(id)}`
  return `${error === undefined ? "result" : `error ${String((error as Json)["code"])}`} ${JSON.stringify(id)}`
}

/** What comes of connecting. */
export interface Dialled {
  readonly clock: ManualClock
  readonly logger: RecordingLogger
  readonly opening: Promise<Client>
}

/** An open client. */
export interface Opened {
  readonly client: Client
  readonly clock: ManualClock
  readonly logger: RecordingLogger
  /** What was passed over since it was opened, in order. */
  readonly noises: readonly ClientEvents["client.noise"][]
}

const peers: Peer[] = []
const clients: Client[] = []
const folders: string[] = []

/** Makes a peer for the length of a test. */
export async function start(script: Script | readonly Script[], options: PeerOptions = {}): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), "peer-"))
  folders.push(folder)
  const peer = new Peer(folder, script, options)
  peers.push(peer)
  return peer
}

/** What the application says of itself. */
export const HOST = { name: "host", version: "1.0.0" }

/** Begins to connect. */
export function dial(peer: Peer, options: ConnectOptions = {}, more: Partial<StdioCommand> = {}): Dialled {
  const clock = createManualClock()
  const logger = createRecordingLogger()
  const opening = connect({ ...peer.command, ...more }, { clock, logger, clientInfo: HOST, ...options })
  opening.then(
    (client) => clients.push(client),
    () => {},
  )
  return { clock, logger, opening }
}

/** Connects. */
export async function open(peer: Peer, options?: ConnectOptions, more?: Partial<StdioCommand>): Promise<Opened> {
  const { clock, logger, opening } = dial(peer, options, more)
  const client = await opening
  const noises: ClientEvents["client.noise"][] = []
  client.on("client.noise", (noise) => noises.push(noise))
  return { client, clock, logger, noises }
}

/** Closes whatever a test left open, and holds the client to leaving no process. */
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const peer of peers.splice(0)) expect(peer.pids.filter(isRunning)).toEqual([])
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

/** The `_meta` of every modern request of {@link HOST}. */
export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": HOST,
  "io.modelcontextprotocol/clientCapabilities": {},
}

/** A modern request of {@link HOST} as the line that it is. */
export function modernLine(id: number, method: string, params: Json = {}, meta: Json = META): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: meta, ...params } })
}

/** A legacy request as the line that it is. */
export function legacyLine(id: number, method: string, params?: Json): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })
}

/** The two lines of a handshake. */
export function handshakeLines(id: number, capabilities: Json = {}): string[] {
  return [
    legacyLine(id, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: HOST }),
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized", params: {} }),
  ]
}

/** The line that calls a request back. */
export function cancelLine(requestId: number): string {
  const params = { requestId, reason: "the client no longer waits for the answer" }
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })
}

/** A step that answers with a result. */
export const result = (value: unknown): Step => [{ result: value }]
/** A step that answers with an error. */
export const error = (code: unknown, message: unknown = "refused", data?: unknown): Step => [
  { error: { code, message, data } },
]
/** A step that writes lines as they are. */
export const lines = (...texts: readonly string[]): Step => texts.map((text) => ({ write: `${text}\n` }))
/** A message of JSON-RPC as a text in which `"$ID"` stands for the id of the request. */
export const text = (message: Json): string => JSON.stringify({ jsonrpc: "2.0", ...message }).replaceAll('"$ID"', "$ID")

/** A tool's result in either era. */
export const DONE = { resultType: "complete", content: [{ type: "text", text: "done" }] }

/** What a modern server says of itself. */
export const DISCOVERED = {
  resultType: "complete",
  supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"],
  capabilities: { tools: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
}
export const MODERN: Script = { "server/discover": [result(DISCOVERED)] }

/** What an older server says of itself. */
export const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {}, logging: {} },
  serverInfo: { name: "scripted", version: "1.0.0" },
}
export const LEGACY: Script = { "server/discover": [error(-32601)], initialize: [result(INITIALIZED)] }
