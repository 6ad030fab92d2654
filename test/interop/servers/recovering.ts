/** What our client makes good when a server lets go of it. */
import { isDeepStrictEqual } from "node:util"
import { expect } from "vitest"
import { type Feature, failure, type Stage, textOf, use, wherever } from "./feature.js"

/** That calls are answered as before. */
async function expectUse({ column }: Stage, client: Stage["client"]): Promise<void> {
  const { text, ...call } = column.has.text
  expect(textOf(await use(client, call))).toBe(text)
}

/** All of them. */
export const recovering: readonly Feature[] = [
  wherever("answer on a stream that is gone on with", "leave", async ({ client }, { text, ...call }) => {
    expect(textOf(await use(client, call))).toBe(text)
  }),

  wherever("session that the server forgot", "forget", async (stage, call) => {
    const { client, application } = await stage.connect()
    await use(client, call)
    await expectUse(stage, client)
    expect(client.status.state).toBe("connected")
    const { change } = stage.column.has
    if (typeof change === "string") return
    await use(client, change)
    await application.changes.until((heard) => isDeepStrictEqual(heard, change.change))
  }),

  wherever("process that ended", "die", async (stage, call) => {
    const { client } = await stage.connect()
    const error = await failure(use(client, call))
    expect(error).toMatchObject({ kind: "connection_down", reason: "process_exited", retryable: true })
    await expectUse(stage, client)
    expect(client.status).toMatchObject({ state: "connected", ...stage.column.speaks })
  }),
]
