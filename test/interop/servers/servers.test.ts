/**
 * Our client against servers that others made, in processes of their own and over real sockets and pipes: every feature with
 * every server, in each era that it speaks, and tables that say which of these cells ran and why the others cannot.
 */
import { rm } from "node:fs/promises"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { Table } from "../table.js"
import { asking } from "./asking.js"
import { calling } from "./calling.js"
import type { Column } from "./column.js"
import { ending } from "./ending.js"
import { type Connected, connectTo, type Stage } from "./feature.js"
import { frameworks } from "./frameworks.js"
import { opening } from "./opening.js"
import { installPeers, type Running, startHttp } from "./place.js"
import { published, scratch } from "./published.js"
import { reading } from "./reading.js"
import { recovering } from "./recovering.js"

const features = [...opening, ...calling, ...reading, ...asking, ...recovering, ...ending]
const columns = [...frameworks, ...published]

const isModern = ({ speaks }: Column): boolean => speaks.era === "modern"
const isOnPipes = ({ place }: Column): boolean => place.path === undefined
const groups = {
  "over HTTP, legacy": columns.filter((column) => !isOnPipes(column) && !isModern(column)),
  "on pipes, legacy": columns.filter((column) => isOnPipes(column) && !isModern(column)),
  modern: columns.filter(isModern),
}

const tables = Object.entries(groups).map(([name, members]) => {
  const names = features.map((feature) => feature.name)
  return { name, members, table: new Table(names, ["transport", "server", "version"], members) }
})

// Each of these starts a process or two.
vi.setConfig({ testTimeout: 30_000 })

beforeAll(installPeers, 180_000)
afterAll(async () => {
  await rm(scratch, { recursive: true })
  const count = tables.reduce((sum, { table }) => sum + table.count, 0)
  const text = tables.map(({ name, table }) => `${name}\n\n${table.print()}`).join("\n\n\n")
  console.log(`\nOur client against servers of others: ${count} cells ran.\n\n${text}\n`)
})

for (const { members, table } of tables) {
  for (const column of members) describe(column.name, () => tryAll(column, table))
}

function tryAll(column: Column, table: Table): void {
  let server: Running | undefined
  let shared: Connected
  let stage: Stage
  const others: Connected[] = []

  beforeAll(async () => {
    if (!isOnPipes(column)) server = await startHttp(column.place)
    shared = await connectTo(column, server?.url)
    stage = {
      ...shared,
      column,
      url: server?.url,
      async connect(options) {
        const other = await connectTo(column, server?.url, { limits: { exitMs: 200 }, ...options })
        others.push(other)
        return other
      },
    }
  })
  afterEach(async () => {
    shared.application.reset()
    await Promise.all(others.splice(0).map(({ client }) => client.close()))
  })
  afterAll(async () => {
    await shared.client.close()
    await server?.stop()
  })

  for (const feature of features) {
    const lack = feature.lackIn(column)
    if (lack !== undefined) {
      table.lacks(feature.name, column, lack)
      continue
    }
    it(feature.name, async () => {
      await feature.run(stage)
      table.ran(feature.name, column)
    })
  }
}

describe("the tables", () => {
  it("miss no cell", () => {
    expect(tables.flatMap(({ table }) => table.missing())).toEqual([])
  })
})
