/** Bodies that a server encoded although it was asked not to. */
import type { IncomingMessage } from "node:http"
import { pipeline, type Readable, type Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"

const FLUSH = { flush: constants.Z_SYNC_FLUSH }
const gunzip = (): Transform => createGunzip(FLUSH)

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", () => createInflate(FLUSH)],
  ["br", () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
])

/**
 * The body of an answer without its content encoding, in pieces of a bounded size. An encoding that is not known, or one inside
 * of another, is refused.
 *
 * @throws `McpError` of kind `transport`, reason `unsupported_encoding`.
 */
export function decodedBody(incoming: IncomingMessage): Readable {
  const encoding = incoming.headers["content-encoding"]
  if (encoding === undefined || encoding === "identity") return incoming
  const decoder = DECODERS.get(encoding.trim().toLowerCase())?.()
  if (decoder === undefined) {
    throw new McpError(`the answer has the content encoding ${clampText(encoding)}, which was not asked for`, {
      kind: "transport",
      reason: "unsupported_encoding",
    })
  }
  pipeline(incoming, decoder, () => {
    // What goes wrong is told by the decoder's own event.
  })
  return decoder
}
