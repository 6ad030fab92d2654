/** How our client finds out what a server speaks, and what it learns of it. */
import type { Client, ConnectOptions } from "conduit-mcp/client"
import { expect } from "vitest"
import { createRecorder, everywhere, type Feature, failure, type Stage } from "./feature.js"

/** Connects, looks, and sees that the connection works. */
async function look({ connect }: Stage, options: ConnectOptions): Promise<Client["status"]> {
  const { client } = await connect(options)
  await client.listTools()
  return client.status
}

/** All of them. */
export const opening: readonly Feature[] = [
  everywhere("protocol auto", async (stage) => {
    expect(await look(stage, { protocol: "auto" })).toMatchObject({ state: "connected", ...stage.column.auto })
  }),

  everywhere("protocol legacy", async (stage) => {
    const found = { era: "legacy", version: stage.column.legacy, reason: "pinned" }
    expect(await look(stage, { protocol: "legacy" })).toMatchObject(found)
  }),

  everywhere("protocol modern, or its refusal", async (stage) => {
    if (stage.column.modern) {
      const found = { era: "modern", version: "2026-07-28", reason: "pinned" }
      expect(await look(stage, { protocol: "modern" })).toMatchObject(found)
    } else {
      const refusal = await failure(stage.connect({ protocol: "modern" }))
      expect(refusal).toMatchObject({ kind: "protocol", reason: "no_common_version" })
    }
  }),

  everywhere("protocol 2025-06-18", async (stage) => {
    const found = { era: "legacy", version: "2025-06-18", reason: "pinned" }
    expect(await look(stage, { protocol: "2025-06-18" })).toMatchObject(found)
  }),

  everywhere("what was found, given back", async (stage) => {
    const { client } = await stage.connect({ protocol: "auto" })
    const prior = JSON.parse(JSON.stringify(client.prior)) as NonNullable<Client["prior"]>
    await client.close()
    const { auto, again } = stage.column
    const { seen, fetch } = createRecorder()
    const next = await stage.connect({ protocol: "auto", prior, fetch })
    if (auto.era === "modern") expect(seen, "requests to connect").toEqual([])
    expect(next.client.status).toMatchObject({ era: auto.era, version: auto.version, reason: again })
    await next.client.listTools()
  }),

  everywhere("what the server says of itself", async ({ client, column, url }) => {
    expect(client.status).toMatchObject({ state: "connected", ...column.speaks, server: column.server })
    expect(client.status.origin).toBe(url === undefined ? process.execPath : new URL(url).origin)
    expect(client.capabilities).toMatchObject({ tools: {} })
    if (column.instructions === undefined) expect(client.instructions).toBeUndefined()
    else expect(client.instructions).toMatch(column.instructions)
  }),

  everywhere("ping", async ({ client }) => {
    expect(await client.ping()).toBeUndefined()
  }),
]
