/**
 * Loaded into the example server before anything else: says on stderr when a handler asks for its signal, when that aborts,
 * and when the process ends by itself.
 */
import { writeSync } from "node:fs"

const Original = globalThis.AbortController

globalThis.AbortController = class AbortController extends Original {
  constructor() {
    super()
    writeSync(2, "[probe] a signal is watched\n")
  }

  abort(reason) {
    writeSync(2, `[probe] a signal aborts: ${reason?.message}\n`)
    super.abort(reason)
  }
}

process.on("exit", (code) => writeSync(2, `[probe] the process exits with ${code}\n`))
