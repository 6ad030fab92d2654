/**
 * One pass over the bytes of a message before it is parsed: bounds depth and width, and finds what a JSON parser would accept
 * in silence (a key twice, `__proto__`, a number that overflows). It does not check the grammar: the parser does.
 */
import type { Reason } from "../error/reason.js"

/** What a message may hold at most. */
export interface ScanLimits {
  /** How many arrays and objects may be open at once. Default 64. */
  readonly maxDepth: number
  /** How many keys and array items the whole message may have. Default 50,000. */
  readonly maxKeys: number
}

/** The defaults of {@link ScanLimits}. */
export const SCAN_LIMITS: ScanLimits = { maxDepth: 64, maxKeys: 50_000 }

/** What the scan found: the counts that reveal a repeated key once the message is parsed, or a refusal. */
export interface ScanCounts {
  /** Keys written at the top level. */
  top: number
  /** Keys written directly under `params`; of the last `params` that is an object. */
  params: number
}

/** Why a scan refused. */
export interface ScanProblem {
  readonly reason: Reason
  readonly message: string
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const PARAMS = [112, 97, 114, 97, 109, 115]
const PROTO = [95, 95, 112, 114, 111, 116, 111, 95, 95]
/** The longest spelling of `__proto__`, with each character escaped. */
const PROTO_ESCAPED_LENGTH = 54
/** Beyond this many characters a number is checked even without an exponent. */
const LONG_NUMBER = 300

/**
 * Scans `bytes`. Writes the key counts into `counts` and answers undefined, or the problem that refuses the message.
 * Linear in the number of bytes; a string is skipped by `indexOf` once it is long.
 */
export function scanMessage(bytes: Uint8Array, limits: ScanLimits, counts: ScanCounts): ScanProblem | undefined {
  const length = bytes.length
  let depth = 0
  let width = 0
  let top = 0
  let params = 0
  let paramsDepth = false
  let keyStart = 0
  let keyEnd = 0
  let keyIsParams = false
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]
    switch (byte) {
      case QUOTE: {
        const end = stringEnd(bytes, i + 1)
        keyStart = i + 1
        keyEnd = end
        i = end
        break
      }
      case COLON: {
        if (++width > limits.maxKeys) return tooWide(limits)
        const spelled = keyEnd - keyStart
        if (spelled >= PROTO.length && spelled <= PROTO_ESCAPED_LENGTH && spells(bytes, keyStart, keyEnd, PROTO)) {
          return FORBIDDEN_KEY
        }
        if (depth === 1) {
          top++
          keyIsParams = spelled >= PARAMS.length && spelled <= 36 && spells(bytes, keyStart, keyEnd, PARAMS)
        } else if (depth === 2 && paramsDepth) {
          params++
        }
        break
      }
      case 44:
        if (++width > limits.maxKeys) return tooWide(limits)
        break
      case 123:
      case 91:
        if (++depth > limits.maxDepth) return tooDeep(limits)
        if (depth === 2) {
          paramsDepth = keyIsParams && byte === 123
          if (paramsDepth) params = 0
        }
        break
      case 125:
      case 93:
        depth--
        break
      case 45:
      case 48:
      case 49:
      case 50:
      case 51:
      case 52:
      case 53:
      case 54:
      case 55:
      case 56:
      case 57: {
        const end = numberEnd(bytes, i + 1)
        if (end < 0 || end - i > LONG_NUMBER) {
          const stop = end < 0 ? -end : end
          if (!Number.isFinite(Number(latin1(bytes, i, stop)))) {
            return OUT_OF_RANGE
          }
          i = stop - 1
        } else i = end - 1
        break
      }
      default:
    }
  }
  counts.top = top
  counts.params = params
  return undefined
}

/** {@link scanMessage} for a value that is parsed already. */
export function scanValue(root: unknown, limits: ScanLimits): ScanProblem | undefined {
  let width = 0
  const visit = (value: unknown, depth: number): ScanProblem | undefined => {
    if (typeof value === "number" && !Number.isFinite(value)) return OUT_OF_RANGE
    if (typeof value !== "object" || value === null) return undefined
    if (depth > limits.maxDepth) return tooDeep(limits)
    if (Object.hasOwn(value, "__proto__")) return FORBIDDEN_KEY
    for (const member of Object.values(value)) {
      if (++width > limits.maxKeys) return tooWide(limits)
      const problem = visit(member, depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return visit(root, 1)
}

const OUT_OF_RANGE: ScanProblem = {
  reason: "number_out_of_range",
  message: "a number is beyond what a double can hold",
}

const FORBIDDEN_KEY: ScanProblem = { reason: "forbidden_key", message: 'the key "__proto__" is not accepted' }

function tooWide(limits: ScanLimits): ScanProblem {
  return { reason: "too_many_keys", message: `more than ${limits.maxKeys} keys and items` }
}

function tooDeep(limits: ScanLimits): ScanProblem {
  return { reason: "too_deep", message: `nested deeper than ${limits.maxDepth} levels` }
}

/** The index of the quote that ends the string whose first byte is at `start`; the end of the bytes when there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  const near = Math.min(bytes.length, start + 64)
  let i = start
  while (i < near) {
    const byte = bytes[i]
    if (byte === QUOTE) return i
    i += byte === BACKSLASH ? 2 : 1
  }
  for (;;) {
    const end = bytes.indexOf(QUOTE, i)
    if (end < 0) return bytes.length
    let slashes = 0
    for (let j = end - 1; j >= i && bytes[j] === BACKSLASH; j--) slashes++
    if ((slashes & 1) === 0) return end
    i = end + 1
  }
}

/** The index after the number that goes on at `start`; negated when it has an exponent. */
function numberEnd(bytes: Uint8Array, start: number): number {
  let exponent = false
  let i = start
  for (; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if ((byte >= 48 && byte <= 57) || byte === 46 || byte === 43 || byte === 45) continue
    if (byte !== 101 && byte !== 69) break
    exponent = true
  }
  return exponent ? -i : i
}

/** Whether the key at `start..end` is the given ASCII word, written plainly or with escapes. */
function spells(bytes: Uint8Array, start: number, end: number, word: readonly number[]): boolean {
  let at = start
  for (const expected of word) {
    if (at >= end) return false
    const byte = bytes[at] ?? 0
    if (byte !== BACKSLASH) {
      if (byte !== expected) return false
      at++
    } else {
      if (bytes[at + 1] !== 117 || Number.parseInt(latin1(bytes, at + 2, at + 6), 16) !== expected) return false
      at += 6
    }
  }
  return at === end
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 2_000)))
}
