/** A server on one end of a pipe: both eras may interleave on it, and its ids are unique across both. */
import { codes } from "../core/error/codes.js"
import { fault } from "../core/error/fault.js"
import type { Answer, Endpoint, Exchange, InFlight, Peer } from "../core/exchange.js"
import type { Limits } from "../core/limits.js"
import { faultText } from "../core/wire/build.js"
import type { RequestId } from "../core/wire/message.js"
import { type DecodeUtf8, parseMessage } from "../core/wire/parse.js"
import type { Channel } from "./port.js"

/** The server's end of a pipe. */
export interface Pipe {
  /** Serves one message, as bytes without a line break. */
  receive(bytes: Uint8Array): void
  /** Refuses a message that was too long to be read. */
  refuseLength(length: number): void
  /** Calls `run` once nothing is being worked on, or at once. */
  whenIdle(run: () => void): void
  /** Says that the other end is gone: what runs is aborted, and nothing more is written. */
  close(): void
}

/** Puts an endpoint on a channel. */
export function createPipe(endpoint: Endpoint, channel: Channel, limits: Limits, decode: DecodeUtf8): Pipe {
  const inFlight = new Map<RequestId, InFlight>()
  const peer: Peer = { kind: "pipe", principal: undefined, inFlight, session: undefined }
  let running = 0
  let closed = false
  let idle: (() => void) | undefined

  const send = (text: string): void => {
    if (!closed) channel.send(text)
  }
  const exchange: Exchange = {
    peer,
    header: undefined,
    canStream: true,
    send,
    finish(answer) {
      if (answer.text !== undefined) send(answer.text)
    },
    close() {},
    onAbort() {},
    flush: () => channel.flush(),
  }
  const answered = (answer: Answer): void => {
    running--
    if (answer.text !== undefined) send(answer.text)
    if (running === 0) idle?.()
  }

  return {
    receive(bytes) {
      const message = parseMessage(bytes, decode, limits)
      if (message.kind === "fault") return send(faultText(message))
      if (message.kind !== "request") return void endpoint.serve(message, exchange)
      running++
      const answer = endpoint.serve(message, exchange)
      if (answer instanceof Promise) void answer.then(answered)
      else answered(answer)
    },
    refuseLength(length) {
      const text = `Invalid request: the message has ${length} bytes, at most ${limits.maxLineBytes} are read (limits.maxLineBytes)`
      send(faultText(fault(400, codes.invalidRequest, "line_too_long", text)))
    },
    whenIdle(run) {
      if (running === 0) run()
      else idle = run
    },
    close() {
      if (closed) return
      endpoint.leave(peer)
      closed = true
    },
  }
}
