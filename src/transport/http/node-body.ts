/** The body of one request on `node:http`, while it arrives. */
import { Buffer } from "node:buffer"
import type { IncomingMessage } from "node:http"
import type { Fault } from "../../core/error/fault.js"
import type { Limits } from "../../core/limits.js"
import { type Deadlines, Due } from "../../store/deadlines.js"
import type { Clock } from "../../store/port.js"
import { bodyTooLarge, bodyTooSlow } from "./body.js"

/** What arriving bodies share. */
export interface Arrivals {
  readonly limits: Limits
  readonly bodies: Deadlines
  readonly clock: Clock
}

/**
 * Reads a body within its limits: its size, and the time by which it has to be there. `done` hears it, or why it is not read any
 * further; of one that breaks off it hears nothing.
 */
export function readBody(request: IncomingMessage, arrivals: Arrivals, done: (body: Uint8Array | Fault) => void): void {
  const body = new ArrivingBody(request, arrivals, done)
  arrivals.bodies.add(body)
  request.on("data", (chunk: Buffer) => body.take(chunk))
  request.on("end", () => body.finish())
  request.on("error", () => body.leave())
}

class ArrivingBody extends Due {
  readonly #request: IncomingMessage
  readonly #arrivals: Arrivals
  readonly #done: (body: Uint8Array | Fault) => void
  #size = 0
  #first: Buffer | undefined
  #rest: Buffer[] | undefined

  constructor(request: IncomingMessage, arrivals: Arrivals, done: (body: Uint8Array | Fault) => void) {
    super()
    this.#request = request
    this.#arrivals = arrivals
    this.#done = done
    this.dueMs = arrivals.clock.now() + arrivals.limits.bodyTimeoutMs
  }

  override expire(): void {
    this.#refuse(bodyTooSlow(this.#arrivals.limits))
  }

  take(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#arrivals.limits.maxBodyBytes) this.#refuse(bodyTooLarge(this.#arrivals.limits))
    else if (this.#first === undefined) this.#first = chunk
    else if (this.#rest === undefined) this.#rest = [this.#first, chunk]
    else this.#rest.push(chunk)
  }

  finish(): void {
    const body = this.#rest === undefined ? (this.#first ?? EMPTY) : Buffer.concat(this.#rest, this.#size)
    this.leave()
    this.#done(body)
  }

  #refuse(fault: Fault): void {
    this.#request.removeAllListeners("data").removeAllListeners("end")
    this.leave()
    this.#done(fault)
  }

  /** Lets go of what has come: a call may go on for long. */
  leave(): void {
    this.#arrivals.bodies.delete(this)
    this.#first = undefined
    this.#rest = undefined
  }
}

const EMPTY = Buffer.alloc(0)
