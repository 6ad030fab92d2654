/** Strict base64 of RFC 4648 for a layer that has no platform: canonical text only, one text for one value. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const PAD = 0x3d

/**
 * Encodes bytes as padded base64.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4648#section-4
 */
export function encodeBase64(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PAD)
  let size = 0
  let pending = 0
  for (let at = 0; at < bytes.length; at += 1) {
    pending = ((pending << 8) | (bytes[at] ?? 0)) & 0xffff
    const spare = ((at % 3) + 1) * 2
    codes[size++] = ALPHABET.charCodeAt((pending >> spare) & 63)
    if (spare === 6) codes[size++] = ALPHABET.charCodeAt(pending & 63)
    else if (at === bytes.length - 1) codes[size++] = ALPHABET.charCodeAt((pending << (6 - spare)) & 63)
  }
  return new TextDecoder().decode(codes)
}

/**
 * Decodes padded base64. Undefined for a character outside the alphabet, padding that is missing or too much, and trailing
 * bits that are not zero: exactly the texts that {@link encodeBase64} writes are read.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4648#section-3.5
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  let pending = 0
  let size = 0
  for (let at = 0; at < text.length - padding; at += 1) {
    const bits = bitsOf(text.charCodeAt(at))
    if (bits < 0) return undefined
    pending = ((pending << 6) | bits) & 0xffff
    const spare = (at * 6 + 6) % 8
    if (spare < 6) bytes[size++] = pending >> spare
  }
  const trailing = padding * 2
  return pending & ((1 << trailing) - 1) ? undefined : bytes
}

/** Whether a text has the form of padded base64, without decoding it. */
export function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/)
  return text.length % 4 === 0 && (end < 0 || /^={1,2}$/.test(text.slice(end)))
}

/** {@link encodeBase64} in the alphabet that needs no escaping in URLs, without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** {@link decodeBase64} for the unpadded URL alphabet, as strict. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (/[+/=]/.test(text)) return undefined
  return decodeBase64(
    text
      .replaceAll("-", "+")
      .replaceAll("_", "/")
      .padEnd(Math.ceil(text.length / 4) * 4, "="),
  )
}

/** The place of a character code in the alphabet, or -1. */
function bitsOf(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b) return 62
  return code === 0x2f ? 63 : -1
}
