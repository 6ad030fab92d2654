/** What tests of answers need: an answerer over given handlers, and calls that a question may belong to. */
import { Call, type CallSettings, type Pausable } from "../../src/client/call.js"
import { type Answerer, type AnswererParts, createAnswerer } from "../../src/client/handler/answerer.js"
import type { Handlers } from "../../src/client/handler/handlers.js"
import { McpError } from "../../src/core/error/error.js"
import type { Revision } from "../../src/core/revision/revision.js"
import { findRevision } from "../../src/core/revision/table.js"
import type { JsonObject } from "../../src/core/wire/message.js"
import { createRecordingLogger, type RecordingLogger } from "../support/logger.js"

export function revisionOf(version: string): Revision {
  const revision = findRevision(version)
  if (revision === undefined) throw new Error(`no revision ${version}`)
  return revision
}

/** An answerer, and the log that it writes. */
export function answererOf(
  handlers: Handlers,
  options: Partial<AnswererParts> = {},
): Answerer & { readonly logger: RecordingLogger } {
  const logger = createRecordingLogger()
  const answerer = createAnswerer({
    handlers,
    elicitation: ["form", "url"],
    samplingTools: false,
    samplingContext: false,
    assigns: { of: "client" },
    limits: { maxQuestions: 100 },
    logger,
    ...options,
  })
  return { ...answerer, logger }
}

const SETTINGS: CallSettings = {
  timeoutMs: 1_000,
  maxTotalTimeoutMs: 10_000,
  resetTimeoutOnProgress: false,
  onProgress: undefined,
  assigns: { of: "call" },
  extensions: undefined,
  headers: undefined,
  cache: "default",
  traceparent: undefined,
}

/** A call that is on its way, the clock that the server has, and how to end it. */
export interface OpenCall {
  readonly call: Call
  readonly clock: { readonly isRunning: boolean }
  readonly done: Promise<JsonObject>
  answer(result: JsonObject): void
}

/** Opens a call that waits for {@link OpenCall.answer}. */
export function openCall(method = "tools/call", params: JsonObject = { name: "book", arguments: {} }): OpenCall {
  const call = new Call(method, params, SETTINGS, undefined)
  const clock = new FakeClock()
  call.clock = clock
  let answer: (result: JsonObject) => void = () => {}
  const work = new Promise<JsonObject>((resolve) => {
    answer = resolve
  })
  const done = call.run(() => work)
  done.catch(() => {})
  return { call, clock, done, answer }
}

class FakeClock implements Pausable {
  isRunning = true
  pause(): void {
    this.isRunning = false
  }
  resume(): void {
    this.isRunning = true
  }
  restart(): void {}
}

/** The error of a call that the caller gives up. */
export const GIVEN_UP = new McpError("the caller gave up", { kind: "cancelled", reason: "aborted" })

/** Facts of a question that belongs to the calls. */
export function factsOf(
  calls: readonly OpenCall[] = [],
  version = "2025-11-25",
  signal: AbortSignal = new AbortController().signal,
) {
  return { calls: calls.map(({ call }) => call), signal, revision: revisionOf(version) }
}

/** What a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<McpError> {
  const error: unknown = await promise.then(
    (value) => new Error(`resolved to ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  if (!McpError.is(error)) throw error
  return error
}

/** What a server is told by an error. */
export const told = ({ kind, code, reason, message }: McpError) => ({ kind, code, reason, message })
