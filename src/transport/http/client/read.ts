/** The bodies of answers: whole ones up to a bound, and event streams message by message. */
import type { ClientLimits } from "../../../client/limits.js"
import type { Fault } from "../../../core/error/fault.js"
import { ByteBuffer } from "../../../core/http/byte-buffer.js"
import { createEventReader } from "../../../core/http/event-reader.js"
import type { HttpReply } from "../../../core/http/send.js"
import { glimpse } from "../../../core/wire/glimpse.js"
import { endsOf } from "../../../core/wire/lines.js"
import type { Message, RequestId } from "../../../core/wire/message.js"
import { createDecodeUtf8, type DecodeUtf8, parseMessage, parseMessages } from "../../../core/wire/parse.js"
import type { Resumption } from "./resumption.js"

/** How a body ended: it was all there, it was cut at the bound, or its connection was lost. */
export type BodyEnd = "whole" | "cut" | "lost"

/** Reads a body. What is beyond `maxBytes` is cut off, and the sender has to be stopped. */
export function collect(
  reply: HttpReply,
  maxBytes: number,
  done: (bytes: Uint8Array, end: BodyEnd, cause: unknown) => void,
): void {
  const held = new ByteBuffer(maxBytes)
  let isCut = false
  reply.read({
    chunk(bytes) {
      if (isCut || held.add(bytes)) return
      isCut = true
      held.add(bytes.subarray(0, maxBytes - held.length))
      done(held.view(), "cut", undefined)
    },
    end() {
      if (!isCut) done(held.view(), "whole", undefined)
    },
    fail(cause) {
      if (!isCut) done(held.view(), "lost", cause)
    },
  })
}

/** What is known of whoever sends messages. */
export interface Sender {
  readonly limits: ClientLimits
  /** Whether several messages may come as one array. */
  readonly batches: boolean
}

/** The messages of a JSON text in bytes. */
export function parseBytes(
  bytes: Uint8Array,
  { limits, batches }: Sender,
  decode = decodeUtf8,
): readonly (Message | Fault)[] {
  return batches ? parseMessages(bytes, decode, limits) : [parseMessage(bytes, decode, limits)]
}

const decodeUtf8: DecodeUtf8 = createDecodeUtf8()

/** Hears an event stream. */
export interface StreamListener {
  /** Whether what still comes is to be passed over unread. */
  readonly isDone: boolean
  /** A message, or why an event is none; and its bytes. */
  read(read: Message | Fault, bytes: Uint8Array): void
  /** An event of another type than `message`. */
  other(event: string, data: string): void
  /** An event that is larger than a message may be; the next one is read again. */
  tooLarge(): void
  /** The end of the stream, once; `cause` is undefined when the server ended it. */
  ended(cause: unknown): void
}

/** Reads an event stream, and keeps its place in it. */
export function readStream(reply: HttpReply, sender: Sender, place: Resumption, listener: StreamListener): void {
  const reader = createEventReader({
    maxBytes: sender.limits.maxMessageBytes,
    event({ id, event = "message", data }) {
      if (id !== undefined) place.passed(id)
      if (data === "" || listener.isDone) return
      if (event !== "message") return listener.other(event, data)
      place.progressed()
      const bytes = new TextEncoder().encode(data)
      for (const read of parseBytes(bytes, sender, () => data)) listener.read(read, bytes)
    },
    retry: (ms) => place.retryAfter(ms),
    tooLong: () => listener.tooLarge(),
  })
  const finish = (cause: unknown): void => {
    reader.end()
    listener.ended(cause)
  }
  reply.read({
    chunk(bytes) {
      if (!listener.isDone) reader.push(bytes)
    },
    end: () => finish(undefined),
    fail: finish,
  })
}

/** The id of what was meant as a response and cannot be read, as far as its two ends show it. */
export function responseId(bytes: Uint8Array): RequestId | undefined {
  const { names, id } = glimpse(endsOf(bytes))
  const isResponse = names.has("jsonrpc") && (names.has("result") || names.has("error")) && !names.has("method")
  return isResponse ? id : undefined
}
