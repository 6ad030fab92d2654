// Lanes by mode, over HTTP (`modern-json`, `session-sse`, …) or stdio (`stdio-modern`, `stdio-legacy`).
import { WORKS } from "../workload/messages.js"
import { openHttpLanes } from "./http.js"
import { UsageError } from "./machine.js"
import { openStdioLanes } from "./stdio.js"

const STDIO = "stdio-"

/** Throws unless a mode and a work are named. */
export function checkModeAndWork({ mode, work }) {
  if (mode === undefined) throw new UsageError("Name a mode and a work, such as: modern-json echo")
  if (WORKS[work] === undefined) throw new UsageError(`There is no work "${work}": ${Object.keys(WORKS).join(", ")}.`)
}

/** Whether a mode is over stdio, where every server has a process of its own and needs no wrk. */
export function isStdio(mode) {
  return mode.startsWith(STDIO)
}

/** Whether an adapter serves a mode. */
export function canServe({ meta }, mode) {
  return isStdio(mode) ? meta.stdio?.includes(mode.slice(STDIO.length)) : meta.http?.includes(mode)
}

/**
 * Opens a lane for each adapter, all in one process; over stdio there is one adapter only.
 * @param {readonly import("../adapters.js").Adapter[]} adapters
 * @param {{ mode: string, work?: string, tools?: number, inFlight?: number, nodeArgs?: readonly string[] }} options
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export function openLanes(adapters, options) {
  const { mode } = options
  return isStdio(mode)
    ? openStdioLanes(adapters, { era: mode.slice(STDIO.length), ...options })
    : openHttpLanes(adapters, options)
}
