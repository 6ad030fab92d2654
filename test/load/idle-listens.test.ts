/** What many idle streams cost a server in a process of its own. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const script = fileURLToPath(new URL("idle-listens.js", import.meta.url))
const COUNT = 10_000
const MIB = 1024 * 1024

interface Figures {
  readonly heard: { readonly streams: number; readonly twice: number }
  readonly rss: { readonly during: number }
  readonly heap: { readonly before: number; readonly during: number; readonly after: number }
}

it("10,000 idle listen streams fit in 400 MB, all hear of a change, none twice, and the heap returns without them", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(COUNT), "--json"])
  const { heard, rss, heap }: Figures = JSON.parse(stdout)
  expect(heard).toEqual({ streams: COUNT, twice: 0 })
  expect(rss.during).toBeLessThan(400 * MIB)
  expect(heap.after - heap.before).toBeLessThan(0.1 * (heap.during - heap.before))
}, 120_000)
