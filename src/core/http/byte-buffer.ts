/** Bytes that come in pieces, collected up to a bound. However small the pieces are, about twice their length is kept at most. */

const FIRST_CAPACITY = 4_096
const NOTHING = new Uint8Array(0)

/** Collects bytes. A single piece is handed out as it came, without a copy. */
export class ByteBuffer {
  readonly #maxBytes: number
  #bytes: Uint8Array = NOTHING
  #length = 0
  /** Whether `#bytes` is ours to write into. */
  #isOwn = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get length(): number {
    return this.#length
  }

  /** Adds a piece. Answers false, and takes nothing of it, when that would be more than the bound. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length
    if (length > this.#maxBytes) return false
    if (this.#length === 0) {
      this.#bytes = piece
      this.#isOwn = false
    } else {
      this.#reserve(length).set(piece, this.#length)
    }
    this.#length = length
    return true
  }

  /** What was collected; valid until something else is done. */
  view(): Uint8Array {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#bytes = NOTHING
    this.#length = 0
    this.#isOwn = false
  }

  /** A buffer of our own for at least `length` bytes, which begins with what was collected. */
  #reserve(length: number): Uint8Array {
    if (this.#isOwn && length <= this.#bytes.length) return this.#bytes
    const wanted = Math.max(2 * this.#length, FIRST_CAPACITY)
    const grown = new Uint8Array(Math.max(length, Math.min(wanted, this.#maxBytes)))
    grown.set(this.view())
    this.#bytes = grown
    this.#isOwn = true
    return grown
  }
}
