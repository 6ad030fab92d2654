// Lanes by mode: servers over HTTP (`modern-json`, `session-sse`, …) or stdio (`stdio-modern`, `stdio-legacy`), and clients
// (`client-http`, `client-stdio`, in the modern era).
import { WORKS } from "../workload/messages.js"
import { openOwnClientLanes } from "./client.js"
import { openHttpLanes } from "./http.js"
import { UsageError } from "./machine.js"
import { openStdioLanes } from "./stdio.js"

const STDIO = "stdio-"
const CLIENT = "client-"

/** Throws unless a mode and a work are named. */
export function checkModeAndWork({ mode, work }) {
  if (mode === undefined) throw new UsageError("Name a mode and a work, such as: modern-json echo")
  if (WORKS[work] === undefined) throw new UsageError(`There is no work "${work}": ${Object.keys(WORKS).join(", ")}.`)
}

/** Whether each adapter has a process of its own in a mode, which needs no wrk: over stdio, and as a client. */
export function isApart(mode) {
  return mode.startsWith(STDIO) || mode.startsWith(CLIENT)
}

/** Whether an adapter takes part in a mode. */
export function canServe({ meta }, mode) {
  if (mode === `${CLIENT}http`) return meta.client?.includes("modern")
  if (mode === `${CLIENT}stdio`) return meta.clientStdio?.includes("modern")
  return mode.startsWith(STDIO) ? meta.stdio?.includes(mode.slice(STDIO.length)) : meta.http?.includes(mode)
}

/**
 * Opens a lane for each adapter, all in one process; where each has its own there is one adapter only.
 * @param {readonly import("../adapters.js").Adapter[]} adapters
 * @param {{ mode: string, work?: string, tools?: number, inFlight?: number, nodeArgs?: readonly string[] }} options
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export function openLanes(adapters, options) {
  const { mode } = options
  if (mode.startsWith(CLIENT)) return openOwnClientLanes(adapters, { transport: mode.slice(CLIENT.length), ...options })
  return mode.startsWith(STDIO)
    ? openStdioLanes(adapters, { era: mode.slice(STDIO.length), ...options })
    : openHttpLanes(adapters, options)
}
