/** Each known kind of hostile input at every door, in both eras, once: what the arbitrary rounds meet by chance. */
import { fileURLToPath } from "node:url"
import { createFetchHandler } from "conduit-mcp/fetch"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Bundled, bundleModule } from "../support/bundle.js"
import { createWatchfulLogger, Tally } from "./budget.js"
import { hostileBytes, hostileKinds, writerOf } from "./corpus.js"
import { fetchDoor, type HttpDoor, socketDoor } from "./http-door.js"
import { BODY_CHANGES, HEADER_VALUES, type HttpShot, ODD_HEADER_VALUES } from "./http-request.js"
import { OPTIONS } from "./http-run.js"
import { play } from "./http-scenario.js"
import type { Draft, EraName } from "./messages.js"
import { Handles } from "./peer.js"
import { memoryEnd, type PipeProcess, processEnd } from "./pipe-door.js"
import { createPipePlace, type PipePlace, playPipe } from "./pipe-scenario.js"
import { createTarget, LIMITS } from "./target.js"

const eras: readonly EraName[] = ["modern", "legacy"]
const logger = createWatchfulLogger()
const server = createTarget(logger)
let running: Running
let bundled: Bundled
let child: PipeProcess
let pipe: PipePlace

beforeAll(async () => {
  running = await serve(server, { ...OPTIONS, port: 0 })
  bundled = await bundleModule(fileURLToPath(new URL("stdio-child.ts", import.meta.url)))
  child = processEnd(bundled.path)
  pipe = createPipePlace(child, new Tally())
})
afterAll(async () => {
  await running.close()
  child.stop()
  await bundled.remove()
})

const fetching = createFetchHandler(server, { ...OPTIONS, path: "/mcp", sessions: true })

const doors: readonly (readonly [name: string, send: (drafts: readonly Draft[], era: EraName) => Promise<void>])[] = [
  ["node:http", (drafts, era) => overHttp(socketDoor(running.address.port), drafts, era)],
  ["fetch", (drafts, era) => overHttp(fetchDoor(fetching), drafts, era)],
  ["stdio", (drafts, era) => onPipe(pipe, drafts, era)],
  [
    "memory",
    async (drafts, era) => {
      const end = memoryEnd(server, { limits: LIMITS })
      await onPipe(createPipePlace(end, new Tally()), drafts, era).finally(() => end.close())
    },
  ],
]

function overHttp(door: HttpDoor, drafts: readonly Draft[], era: EraName): Promise<void> {
  const shots = drafts.map((draft) => ({ ...plain, draft }))
  return fire(door, era, shots)
}

const plain: Omit<HttpShot, "draft"> = { method: "POST", path: "/mcp", headers: [], body: "whole", cut: 10 }

async function fire(door: HttpDoor, era: EraName, shots: readonly HttpShot[]): Promise<void> {
  const script = { era, version: "2025-11-25", shots, replies: [], tamper: undefined }
  await play({ door, handles: new Handles(), tally: new Tally() }, [script])
}

async function onPipe(place: PipePlace, drafts: readonly Draft[], era: EraName): Promise<void> {
  await playPipe(place, { opens: era === "legacy", drafts, cuts: [], replies: [], tamper: undefined })
}

/** A message as a draft, with the method and name that its headers go by. */
function toDraft(era: EraName, text: string): Draft {
  const [, method = "ping"] = /"method":"([\x20-\x7e]*?)"/.exec(text) ?? []
  const [, name] = /"(?:name|uri)":"([\x20-\x7e]*?)"/.exec(text) ?? []
  return { era, text, method: method.slice(0, 100), name: name?.slice(0, 100), damage: undefined }
}

describe.each(doors)("a server behind %s", (_, send) => {
  describe.each(eras)("answers by the rules, in the %s era,", (era) => {
    it.each(hostileKinds)("%s", async (_name, messages) => {
      const drafts = messages(writerOf(era)).map((text) => toDraft(era, text))
      await send(drafts, era)
      expect(logger.unexpected).toEqual([])
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    })

    it.each(hostileBytes)("%s", async (_name, bytes) => {
      const damage = { kind: "prefix", at: 0, bytes } as const
      await send([{ ...toDraft(era, writerOf(era)("ping")), damage }], era)
    })
  })
})

const httpDoors: readonly (readonly [name: string, door: () => HttpDoor])[] = [
  ["node:http", () => socketDoor(running.address.port)],
  ["fetch", () => fetchDoor(fetching)],
]

describe.each(httpDoors)("a request to a server behind %s", (_, door) => {
  describe.each(eras)("in the %s era is answered by the rules", (era) => {
    const draft = toDraft(era, writerOf(era)("tools/call", '"name":"echo","arguments":{"text":"a"}'))

    it.each(Object.entries(HEADER_VALUES))("whatever %s says, once or twice", async (name, values) => {
      const all = [undefined, ...values, ...ODD_HEADER_VALUES]
      const changes = all.flatMap((value) => [false, true].map((again) => ({ name, value, again })))
      await fire(
        door(),
        era,
        changes.map((change) => ({ ...plain, draft, headers: [change] })),
      )
    })

    it.each(BODY_CHANGES)("when its body is %s", async (body) => {
      await fire(door(), era, [{ ...plain, draft, body }])
    })

    it.each(["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "QUERY"])("when it is %s", async (method) => {
      await fire(door(), era, [{ ...plain, draft, method }])
    })
  })
})

it("nothing that was refused, cut or too long stands on the output of a process", () => {
  expect(child.stderr()).toBe("")
})
