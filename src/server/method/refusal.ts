/** The refusals that methods share, and what becomes of an exception. */

import { codes } from "../../core/error/codes.js"
import { McpError, ToolError } from "../../core/error/error.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { type Answer, refuse, silent } from "../../core/exchange.js"
import { methodNotFound } from "../../core/negotiate/inbound.js"
import { isJsonObject, type JsonObject, type RequestId } from "../../core/wire/message.js"
import type { Call } from "../call.js"

/** The refusal of a method whose feature this server does not have: as if the revision did not know it. */
export function notServed(call: Call): Answer {
  const { id, method, params } = call.facts
  return refuse(methodNotFound({ kind: "request", id, method, params }, statusOf(call, codes.methodNotFound)))
}

/** The refusal of params that are not of the method's form. */
export function invalidParams(call: Call, problem: string, data?: JsonObject): Answer {
  return refuse(fault(200, codes.invalidParams, "invalid_params", `Invalid params: ${problem}`, call.facts.id, data))
}

/** The refusal of what there is no room for at the moment. */
export function overloaded(id: RequestId | undefined, why: string): Answer {
  return refuse(fault(503, codes.internalError, "overloaded", `Server is busy: ${why}`, id), { "Retry-After": "1" })
}

/**
 * The refusal after an exception that nobody expected: a reference for the caller, the detail for the log. What fails because
 * its call was cancelled is neither: nobody waits for it, and nothing is wrong.
 */
export function internalError(call: Call, what: string, error: unknown): Answer {
  if (call.cancelled) return silent
  const reference = referenceOf(call)
  call.failure = { thrown: error, reference }
  call.facts.profile.logger.error(`${what} failed`, { reference, error })
  return refuse(internalFault(200, reference, call.facts.id))
}

/** What a handler of a prompt or resource threw: words for the caller, an error of the protocol, or an internal error. */
export function failed(call: Call, what: string, error: unknown): Answer {
  if (ToolError.is(error)) {
    return refuse(fault(200, codes.internalError, "internal_error", error.message, call.facts.id))
  }
  return raised(call, error) ?? internalError(call, what, error)
}

/** An error that says nothing but where the log says more. */
export function internalFault(status: number, reference: string, id: RequestId | undefined): Fault {
  const text = `Internal error (reference ${reference})`
  return fault(status, codes.internalError, "internal_error", text, id, { reference })
}

/**
 * What a handler threw on purpose as an error of the protocol; undefined for every other exception. A missing client
 * capability is the one such error with an HTTP status of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror
 */
export function raised(call: Call, error: unknown): Answer | undefined {
  if (!isForTheWire(error)) return undefined
  const { revision } = call.facts.served
  const code = revision.maySend(error.code) ? error.code : codes.internalError
  const data = isJsonObject(error.data) ? error.data : undefined
  if (error.kind === "validation") call.keepOpen()
  return refuse(fault(statusOf(call, code), code, error.reason, error.message, call.facts.id, data))
}

/** An answer that does not fit its question is the caller's mistake, and the same round may come again without it. */
function isForTheWire(error: unknown): error is McpError & { readonly code: number } {
  return (McpError.is(error, "protocol") || McpError.is(error, "validation")) && error.code !== undefined
}

function statusOf(call: Call, code: number): number {
  return call.facts.served.revision.errorStatus.get(code) ?? 200
}

/** A reference that ties what the caller of a method sees to the line in the log. */
export function referenceOf(call: Call): string {
  return referenceTo(call.facts.method.replace("/", "-"))
}

/** {@link referenceOf} for what is not a call. */
export function referenceTo(what: string): string {
  return `${what}-${crypto.randomUUID().slice(0, 8)}`
}
