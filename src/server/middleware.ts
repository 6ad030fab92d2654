/** What stands between a request and its method: functions around it, in order, that look, refuse, and replace results. */
import { McpError, misuse, ToolError } from "../core/error/error.js"
import type { Fault } from "../core/error/fault.js"
import type { Answer } from "../core/exchange.js"
import { clampText } from "../core/feature/text.js"
import { revisions } from "../core/revision/table.js"
import { isObject, type JsonObject, type RequestId } from "../core/wire/message.js"
import type { Call } from "./call.js"
import type { RequestContext } from "./context.js"
import { writeResult } from "./method/manual.js"
import { failed, raised } from "./method/refusal.js"
import { toolError } from "./method/tools.js"
import { notPlainJson } from "./result.js"

/** A request as middleware sees it. What it leaves with `set` is there for the handler's `ctx.get`. */
export interface ServerCall extends RequestContext {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject | undefined
}

/** The `error` of a reply. */
export interface ReplyError {
  readonly code: number
  readonly message: string
  readonly data?: JsonObject
}

/**
 * What a request comes to: a result as it goes out, which is read from its text when it is first looked at, or an error. A tool
 * that fails has a result, with `isError`.
 */
export type Reply =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: ReplyError }

/**
 * Goes around a request. `next` enters what is further in, once at most, and never rejects: whatever fails there comes back as
 * a reply with `ok: false`. Returns that reply, or another in its place; throws to refuse, as a handler does.
 *
 * @example
 * server.use("tools/call", async (call, next) => {
 *   if (call.principal === undefined) throw new ToolError("log in first")
 *   return next()
 * })
 */
export type Around = (call: ServerCall, next: () => Promise<Reply>) => Reply | Promise<Reply>

/** The small form of {@link Around}: something to do before a request, and something after it. */
export interface Hooks {
  /** Throws to refuse. */
  before?(call: ServerCall): void | Promise<void>
  /** Called with whatever came of it, also when something further in refused. */
  after?(call: ServerCall, reply: Reply): void | Promise<void>
}

/** What goes around requests. */
export type Middleware = Around | Hooks

/** Middleware for the requests of one method. */
export type MethodMiddleware = readonly [method: string, middleware: Middleware]

/** The middleware of one server. */
export interface Pipeline {
  /** Puts middleware inside of what is there already. */
  add(middleware: Middleware | MethodMiddleware): void
  /** What goes around a method, the outermost first; undefined when there is nothing. */
  around(method: string): readonly Around[] | undefined
}

/** Makes an empty {@link Pipeline}. */
export function createPipeline(): Pipeline {
  const entries: { readonly method: string | undefined; readonly around: Around }[] = []
  const known = new Map<string, readonly Around[]>()
  return {
    add(given) {
      const [method, middleware] = isPair(given) ? given : [undefined, given]
      entries.push({ method: checkMethod(method), around: toAround(middleware) })
      known.clear()
    },
    around(method) {
      if (entries.length === 0) return undefined
      const chain =
        known.get(method) ??
        entries.filter((entry) => entry.method === undefined || entry.method === method).map(({ around }) => around)
      known.set(method, chain)
      return chain.length === 0 ? undefined : chain
    },
  }
}

function isPair(given: Middleware | MethodMiddleware): given is MethodMiddleware {
  return Array.isArray(given)
}

function checkMethod(method: string | undefined): string | undefined {
  if (method === undefined) return undefined
  if (method !== "initialize" && revisions.some((revision) => revision.methods.has(method))) return method
  throw misuse("invalid_option", `"${clampText(method)}" is not a method that middleware can go around`)
}

function toAround(middleware: Middleware): Around {
  if (typeof middleware === "function") return middleware
  if (!isObject(middleware))
    throw misuse("invalid_option", "middleware is a function, or an object with before and after")
  const { before, after } = middleware as Hooks
  return async (call, next) => {
    await before?.(call)
    const reply = await next()
    await after?.(call, reply)
    return reply
  }
}

/** Runs a request through its middleware. Never rejects. */
export async function runAround(
  call: Call,
  chain: readonly Around[],
  enter: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const step = async (index: number): Promise<Answer> => {
    const around = chain[index]
    if (around === undefined) return leave(call, await enter())
    let entered = false
    const next = async (): Promise<Reply> => {
      if (entered) throw misuse("invalid_option", "next() was called twice by one middleware")
      entered = true
      return toReply(await step(index + 1))
    }
    try {
      return toAnswer(call, await around(call, next))
    } catch (error) {
      return refusedBy(call, error)
    }
  }
  return step(0)
}

function refusedBy(call: Call, error: unknown): Answer {
  if (ToolError.is(error) && call.method === "tools/call") return toolError(call, error.message)
  return failed(call, "middleware", error)
}

/** What the method came to. What a call asks its client with is on its way already: it is shown, and stays as it is. */
async function leave(call: Call, answer: Answer): Promise<Answer> {
  return (await call.delivery) ?? answer
}

function toReply(answer: Answer): Reply {
  return answer.fault === undefined ? new AnswerReply(answer) : new FaultReply(answer, answer.fault)
}

function toAnswer(call: Call, reply: Reply): Answer {
  if (reply instanceof AnswerReply || reply instanceof FaultReply) return reply.answer
  const given: unknown = reply
  if (isObject(given) && given["ok"] === true && isObject(given["result"])) {
    const { result } = given
    const problem = notPlainJson(result, "the result")
    if (problem !== undefined) throw new TypeError(`middleware: ${problem}`)
    return writeResult(call, result as JsonObject)
  }
  if (isObject(given) && given["ok"] === false && isObject(given["error"])) {
    const { code, message, data = null } = given["error"] as unknown as ReplyError
    const answer = raised(call, new McpError(message, { kind: "protocol", reason: "jsonrpc", code, data }))
    if (answer !== undefined) return answer
  }
  throw new TypeError("middleware must return a reply: that of next(), or { ok: true, result }")
}

class AnswerReply {
  readonly ok = true
  readonly answer: Answer
  #result: JsonObject | undefined

  constructor(answer: Answer) {
    this.answer = answer
  }

  get result(): JsonObject {
    const { text } = this.answer
    this.#result ??= text === undefined ? {} : (JSON.parse(text) as { readonly result: JsonObject }).result
    return this.#result
  }
}

class FaultReply {
  readonly ok = false
  readonly answer: Answer
  readonly #fault: Fault

  constructor(answer: Answer, error: Fault) {
    this.answer = answer
    this.#fault = error
  }

  get error(): ReplyError {
    const { code, message, reason, data } = this.#fault
    return { code, message, data: { reason, ...data } }
  }
}
