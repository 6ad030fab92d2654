/** Strict base64 of RFC 4648 for a layer that has no platform: canonical text only, one text for one value. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/**
 * Encodes bytes as padded base64.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4648#section-4
 */
export function encodeBase64(bytes: Uint8Array): string {
  let text = ""
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    text += ALPHABET.charAt(group >> 18) + ALPHABET.charAt((group >> 12) & 63)
    text += at + 1 < bytes.length ? ALPHABET.charAt((group >> 6) & 63) : "="
    text += at + 2 < bytes.length ? ALPHABET.charAt(group & 63) : "="
  }
  return text
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
    const bits = ALPHABET.indexOf(text.charAt(at))
    if (bits < 0) return undefined
    pending = ((pending << 6) | bits) & 0xffff
    const spare = (at * 6 + 6) % 8
    if (spare < 6) bytes[size++] = pending >> spare
  }
  const trailing = padding * 2
  return pending & ((1 << trailing) - 1) ? undefined : bytes
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
