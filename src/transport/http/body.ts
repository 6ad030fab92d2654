/** What the body of a POST has to be: what is checked before it is read, and the refusals of one that cannot be read. */
import { codes } from "../../core/error/codes.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { clampText } from "../../core/feature/text.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { Accepts, decideAccept, isJsonMedia } from "../../core/http/media.js"
import type { Limits } from "../../core/limits.js"
import type { Message } from "../../core/wire/message.js"
import { type DecodeUtf8, parseMessage, parseParsed } from "../../core/wire/parse.js"

/** What a POST may be answered with, or why its body is not read. */
export function checkPost(limits: Limits, header: HeaderFacts): Accepts | Fault {
  const type = header.get("content-type")
  if (!isJsonMedia(type)) {
    const text = `Unsupported media type: expected application/json in UTF-8, got ${clampText(type ?? "none")}`
    return fault(415, codes.invalidRequest, "unsupported_media_type", text)
  }
  const encoding = header.get("content-encoding")
  if (encoding !== undefined && encoding !== "identity") {
    return fault(415, codes.invalidRequest, "unsupported_encoding", "Unsupported: an encoded request body")
  }
  const accepts = decideAccept(header.get("accept"))
  if (accepts === Accepts.none) {
    const text = "Not acceptable: Accept must allow application/json or text/event-stream"
    return fault(406, codes.invalidRequest, "not_acceptable", text)
  }
  return Number(header.get("content-length")) > limits.maxBodyBytes ? bodyTooLarge(limits) : accepts
}

/** The message in a body that a framework has parsed, or has read as text or bytes. */
export function parseBody(body: unknown, decode: DecodeUtf8, limits: Limits): Message | Fault {
  if (typeof body === "string") return parseMessage(new TextEncoder().encode(body), decode, limits)
  return body instanceof Uint8Array ? parseMessage(body, decode, limits) : parseParsed(body, limits)
}

/** The refusal of a body that is too large. */
export function bodyTooLarge({ maxBodyBytes }: Limits): Fault {
  const text = `Body too large: at most ${maxBodyBytes} bytes (limits.maxBodyBytes)`
  return fault(413, codes.invalidRequest, "body_too_large", text)
}

/** The refusal of a body that does not arrive in time. */
export function bodyTooSlow({ bodyTimeoutMs }: Limits): Fault {
  const text = `Body too slow: it must arrive within ${bodyTimeoutMs} ms (limits.bodyTimeoutMs)`
  return fault(408, codes.invalidRequest, "body_timeout", text)
}

/** The refusal of a body that was read before. `passIt` is how the framework passes it on. */
export function bodyConsumed(passIt: string): Fault {
  const text = `Internal error: the body was read before it reached the MCP handler; pass it on as ${passIt}`
  return fault(500, codes.internalError, "body_consumed", text)
}
