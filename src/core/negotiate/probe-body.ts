/** Finds the JSON-RPC response in whatever an HTTP server answered a probe with. */
import { createEventReader } from "../http/event-reader.js"
import { mediaType } from "../http/media.js"
import { isObject } from "../wire/message.js"

/** A response, in what of it a probe depends on: servers that fail are careless about ids and messages. */
export type ProbeResponse =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: ProbeError }

/** The `error` of a response, or of one that is nearly one. */
export interface ProbeError {
  readonly code: number
  readonly message?: unknown
  readonly data?: unknown
}

/**
 * The first response in a body, or undefined when there is none. Bytes and text are read as an event stream where the content
 * type says so and as JSON everywhere else, because errors often come with the wrong type; an object is a decoded message. Of
 * a batch, the first response counts.
 */
export function readProbeBody(contentType: string | undefined, body: unknown): ProbeResponse | undefined {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return toResponse(body)
  if (contentType !== undefined && mediaType(contentType) === "text/event-stream") return readEvents(body)
  return readJson(probeText(body))
}

/** A body as text; undefined when it is neither text nor UTF-8. */
export function probeText(body: unknown): string | undefined {
  if (!(body instanceof Uint8Array)) return typeof body === "string" ? body : undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

/** Whether `value` is an object with a code, as the `error` of a response is. */
export function isProbeError(value: unknown): value is ProbeError {
  return isObject(value) && Number.isInteger(value["code"])
}

function readEvents(body: string | Uint8Array): ProbeResponse | undefined {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const found: ProbeResponse[] = []
  const reader = createEventReader({
    maxBytes: bytes.length + 1,
    event: ({ data }) => {
      const response = readJson(data)
      if (response !== undefined) found.push(response)
    },
    retry: () => {},
    tooLong: () => {},
  })
  reader.push(bytes)
  reader.end()
  return found[0]
}

function readJson(text: string | undefined): ProbeResponse | undefined {
  if (text === undefined) return undefined
  try {
    return toResponse(JSON.parse(text.replace(/^\ufeff/, "")))
  } catch {
    return undefined
  }
}

function toResponse(value: unknown): ProbeResponse | undefined {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value]
  return messages.flatMap((message) => readResponse(message) ?? [])[0]
}

function readResponse(message: unknown): ProbeResponse | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || Object.hasOwn(message, "method")) return undefined
  const { error } = message
  if (isProbeError(error)) return { kind: "error", error }
  const hasResult = Object.hasOwn(message, "result") && (error === undefined || error === null)
  return hasResult ? { kind: "result", result: message["result"] } : undefined
}
