/** A client's link under test, with everything that it tells. */
import { readFileSync } from "node:fs"
import { type DEFAULT_CLIENT_LIMITS, resolveClientLimits } from "../../../src/client/limits.js"
import type { Link, Noise, Outcome } from "../../../src/client/link.js"
import type { McpError } from "../../../src/core/error/error.js"
import type { Message, RequestId } from "../../../src/core/wire/message.js"
import { createSystemClock } from "../../../src/store/clock.js"
import type { Clock } from "../../../src/store/port.js"
import { createStdioDialer } from "../../../src/transport/stdio/client.js"
import type { StdioCommand } from "../../../src/transport/stdio/command.js"

/** What a link has told so far, and hands on it. */
export interface LinkProbe {
  readonly link: Link
  readonly messages: readonly Message[]
  readonly noises: readonly Noise[]
  readonly goneErrors: readonly McpError[]
  /** Every outcome in the order in which it came, with its id. */
  readonly outcomes: readonly (readonly [RequestId, Outcome])[]
  /** Resolves with the error with which the link went down. */
  readonly gone: Promise<McpError>
  /** Sends a request and resolves with what became of it. */
  request(id: RequestId, method?: string, params?: object): Promise<Outcome>
  /** Resolves once `find` finds something in what was told. */
  until<T>(find: () => T | undefined): Promise<T>
}

/** Opens a link. */
export async function openProbe(link: Link): Promise<LinkProbe> {
  const messages: Message[] = []
  const noises: Noise[] = []
  const goneErrors: McpError[] = []
  const outcomes: (readonly [RequestId, Outcome])[] = []
  let looks: (() => boolean)[] = []
  const told = (): void => {
    looks = looks.filter((look) => !look())
  }
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = (): boolean => {
        const found = find()
        if (found !== undefined) resolve(found)
        return found !== undefined
      }
      if (!look()) looks.push(look)
    })
  await link.open({
    message: (message) => {
      messages.push(message)
      told()
    },
    noise: (noise) => {
      noises.push(noise)
      told()
    },
    gone: (error) => {
      goneErrors.push(error)
      told()
    },
  })
  return {
    link,
    messages,
    noises,
    goneErrors,
    outcomes,
    gone: until(() => goneErrors[0]),
    request: (id, method = "ask", params = {}) =>
      new Promise((resolve) => {
        const text = JSON.stringify({ jsonrpc: "2.0", id, method, params })
        link.request(
          { id, method, text, headers: undefined, caller: undefined, repeatable: false },
          {
            message() {},
            settle(outcome) {
              outcomes.push([id, outcome])
              told()
              resolve(outcome)
            },
          },
        )
      }),
    until,
  }
}

/** The clock of tests whose time does not matter. */
const clock = createSystemClock()

/** What a test says of a child beside its command. */
export interface ChildOptions extends Partial<StdioCommand> {
  readonly limits?: Partial<typeof DEFAULT_CLIENT_LIMITS>
  readonly clock?: Clock
}

/** Opens a link to a child that runs `command`, by default a script of Node's. */
export function openChild(script: string, options: ChildOptions = {}): Promise<LinkProbe> {
  return openProbe(dialScript(script, options))
}

/** The link that {@link openChild} opens. */
export function dialScript(script: string, { limits = {}, ...options }: ChildOptions = {}): Link {
  const args = ["-e", PRELUDE + script]
  return createStdioDialer({
    command: process.execPath,
    args,
    clock,
    ...options,
    limits: resolveClientLimits(limits),
  }).dial()
}

/** What every script has: `say` writes a message, `answer` answers one, `heard` runs for each that comes. */
const PRELUDE = `
  const fs = require("node:fs")
  const write = (text) => fs.writeSync(1, text)
  const say = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
  const answer = ({ id }, result = {}) => say({ id, result })
  const heard = (run) => require("node:readline").createInterface(process.stdin).on("line", (line) => run(JSON.parse(line)))
  say({ method: "started", params: { pid: process.pid } })
`

/** The process id that a script has told. */
export async function pidOf(probe: LinkProbe): Promise<number> {
  const params = await probe.until(() => {
    const message = probe.messages.find((one) => one.kind === "notification" && one.method === "started")
    return message?.kind === "notification" ? message.params : undefined
  })
  return Number(params["pid"])
}

/** Whether a process runs: one that has ended and was not collected does not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return !/\) [ZX] /.test(stat)
  } catch {
    return false
  }
}
