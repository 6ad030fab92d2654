/**
 * The official SDKs' clients against the compiled example server, in processes of their own and over real sockets and pipes:
 * every client on every transport uses every feature, and a table says which of these cells ran.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { InteropClient } from "./client.js"
import { connectV1 } from "./client-v1.js"
import { connectV2 } from "./client-v2.js"
import { type Combination, combinations, lackOf } from "./combination.js"
import { opening, running } from "./connection.js"
import type { Stage } from "./feature.js"
import { resources } from "./resources.js"
import { Table } from "./table.js"
import { tools } from "./tools.js"
import { type HttpServer, overStdio, startHttp } from "./weather.js"

const features = [...opening, ...tools, ...resources, ...running]
const table = new Table(
  features.map(({ name }) => name),
  ["transport", "client", "version"],
  combinations,
)

let http: HttpServer
beforeAll(async () => {
  http = await startHttp()
})
afterAll(async () => {
  await http.stop()
  console.log(`\nInterop: ${table.count} cells ran.\n\n${table.print()}\n`)
})

/** What each combination has used of the server, by combination. */
const used = new Map<string, { tools: Set<string>; resources: Set<string>; prompts: Set<string> }>()

/** The client, noting what is used. */
function noting(client: InteropClient, combination: Combination): InteropClient {
  const notes = used.get(combination.name) ?? { tools: new Set(), resources: new Set(), prompts: new Set() }
  used.set(combination.name, notes)
  return {
    ...client,
    callTool(name, ...rest) {
      notes.tools.add(name)
      return client.callTool(name, ...rest)
    },
    readResource(uri) {
      notes.resources.add(uri)
      return client.readResource(uri)
    },
    getPrompt(name, ...rest) {
      notes.prompts.add(name)
      return client.getPrompt(name, ...rest)
    },
  }
}

/** Connects a client and watches the stderr of its server. */
async function open(combination: Combination, opened: InteropClient[]): Promise<Stage> {
  const place = combination.transport === "http" ? http.place : overStdio
  const client = combination.client === "v1" ? await connectV1(place) : await connectV2(combination.client, place)
  opened.push(client)
  const stderr = place.transport === "http" ? http.stderr : client.stderr
  let seen = 0
  return {
    combination,
    client: noting(client, combination),
    url: place.transport === "http" ? place.url : undefined,
    connect: () => open(combination, opened),
    heard() {
      const text = stderr().slice(seen)
      seen += text.length
      return text
    },
  }
}

for (const combination of combinations) {
  describe(combination.name, () => tryAll(combination))
}

function tryAll(combination: Combination): void {
  const opened: InteropClient[] = []
  let stage: Stage
  beforeAll(async () => {
    stage = await open(combination, opened)
  })
  afterEach(async () => {
    await Promise.all(opened.splice(1).map((client) => client.close()))
    expect(stage.client.errors(), "errors that the SDK reported").toEqual([])
  })
  afterAll(async () => {
    await stage.client.close()
    expect(stage.client.errors(), "errors that the SDK reported").toEqual([])
  })

  for (const feature of features) {
    const lack = lackOf(combination, feature.lacks)
    if (lack !== undefined) {
      table.lacks(feature.name, combination, lack)
      continue
    }
    it(feature.name, async () => {
      await feature.run(stage)
      table.ran(feature.name, combination)
    })
  }

  it("uses every tool, resource and prompt that is listed", async () => {
    const { client } = stage
    const notes = used.get(combination.name)
    const names = async (list: Promise<Record<string, unknown>>, key: string, member: string): Promise<string[]> =>
      ((await list)[key] as Record<string, string>[]).map((entry) => entry[member] ?? "")
    expect([...(notes?.tools ?? [])]).toEqual(expect.arrayContaining(await names(client.listTools(), "tools", "name")))
    expect([...(notes?.resources ?? [])]).toEqual(
      expect.arrayContaining(await names(client.listResources(), "resources", "uri")),
    )
    expect([...(notes?.prompts ?? [])]).toEqual(
      expect.arrayContaining(await names(client.listPrompts(), "prompts", "name")),
    )
  })
}

describe("the table", () => {
  it("misses no cell", () => {
    expect(table.missing()).toEqual([])
  })

  it("lacks in each era and on each transport only what is not there", () => {
    const lacking = (transport: string, era: string): string[] =>
      features
        .filter(({ lacks }) =>
          combinations.some((one) => one.transport === transport && one.era === era && lackOf(one, lacks)),
        )
        .map(({ name }) => name)
    const onlyModern = [
      "server/discover",
      "argument in a header, learned from a refusal",
      "caching hints",
      "log messages of one request",
    ]
    expect(lacking("http", "legacy")).toEqual([...onlyModern, "end of the process with its client"])
    expect(lacking("stdio", "legacy")).toEqual([...onlyModern, "end of the session"])
    expect(lacking("http", "modern")).toEqual([
      "ping",
      "logging/setLevel and log messages",
      "end of the session",
      "end of the process with its client",
    ])
    expect(lacking("stdio", "modern")).toEqual([
      "ping",
      "argument in a header, learned from a refusal",
      "logging/setLevel and log messages",
      "end of the session",
    ])
  })
})
