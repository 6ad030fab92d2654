/** The HTTP client elsewhere: what bundles for browsers hold, and what keeps a process alive. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { afterAll, describe, expect, it } from "vitest"
import { event, plain, result, startHttpPeer, stream } from "../support/http-peer.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "conduit-test-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("the way out is chosen by the platform", () => {
  const bundle = async (conditions: string[]): Promise<string> => {
    const contents =
      'export { createSend } from "#send"\nexport { createHttpDialer } from "./dist/transport/http/client.js"'
    const stdin = { contents, resolveDir: root }
    const { outputFiles } = await build({
      stdin,
      conditions,
      mainFields: ["module"],
      external: ["node:*"],
      bundle: true,
      format: "esm",
      platform: "neutral",
      write: false,
    })
    return outputFiles[0]?.text ?? ""
  }

  it.each([["browser"], ["workerd", "worker", "browser"], []])(
    "fetch, and nothing of Node: %s",
    async (...conditions) => {
      const text = await bundle(conditions)
      expect(text).not.toMatch(/node:|\brequire\(|\bprocess\b|\bBuffer\b/)
      expect(text).toContain("globalThis.fetch")
    },
  )

  it.each(["node", "bun", "deno"])("node:http on %s", async (condition) => {
    expect(await bundle([condition])).toContain('from "node:http"')
  })
})

describe("a process", () => {
  /** Runs a script with an open link `link`, and the function `ask`; answers what it wrote before it ended by itself. */
  const run = (url: string, script: string): Promise<string> => {
    const source = `
      import { createHttpDialer } from "${root}dist/transport/http/client.js"
      import { createSend } from "${root}dist/transport/http/send-node.js"
      import { resolveClientLimits } from "${root}dist/client/limits.js"
      import { createSystemClock } from "${root}dist/store/clock.js"
      const parts = { url: ${JSON.stringify(url)}, send: createSend(), limits: resolveClientLimits() }
      const link = createHttpDialer({ ...parts, clock: createSystemClock() }).dial()
      const ask = (method, settle) => link.request(
        { id: 1, method, text: JSON.stringify({ jsonrpc: "2.0", id: 1, method }), headers: undefined, caller: undefined, repeatable: true },
        { message() {}, settle },
      )
      await link.open({ message: ({ method }) => console.log(method), gone() {}, noise() {} })
      ${script}
    `
    return new Promise((resolve, reject) => {
      execFile(process.execPath, ["--input-type=module", "--eval", source], (error, stdout, stderr) => {
        if (error === null && stderr === "") resolve(stdout.trim())
        else reject(new Error(stderr, { cause: error }))
      })
    })
  }

  it("lives on while a request waits for its answer, and no longer", async () => {
    const peer = await startHttpPeer({
      ping: async ({ message }, response) => {
        await new Promise((resolve) => setImmediate(resolve))
        await result({})({ verb: "POST", path: "/", headers: {}, text: "", message }, response)
      },
    })
    expect(await run(peer.url, 'ask("ping", ({ kind }) => console.log(kind))')).toBe("message")
    await peer.close()
  })

  it("does not live on for the stream that belongs to no request, nor for a connection that is kept", async () => {
    const changed = event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
    const peer = await startHttpPeer({ GET: stream(changed, false), ping: plain(202) })
    const adopt = 'link.adopt({ version: "2025-11-25", session: "s", resumes: true, standby: true })'
    const script = `await new Promise((resolve) => ask("ping", () => { ${adopt}; ask("ping", resolve) }))`
    await run(peer.url, script)
    expect(peer.log.toSorted().slice(0, 3)).toEqual(["GET", "POST ping 1", "POST ping 1"])
    await peer.close()
  })
})
