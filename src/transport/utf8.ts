/** UTF-8 decoding on Node, Bun and Deno: a check and one decode, both native. */
import { Buffer, isUtf8 } from "node:buffer"
import type { DecodeUtf8 } from "../core/wire/parse.js"

/** The fastest {@link DecodeUtf8} of this runtime. */
export const decodeUtf8: DecodeUtf8 = (bytes) => {
  if (!isUtf8(bytes)) return undefined
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString("utf8")
}
