/** What is refused on every runtime, and how: the front door, and messages that are none. */
import { expect } from "vitest"
import { type Json, modernHeaders, modernRequest } from "../support/wire.js"
import { callRequest, expectRefusal, type Headers, JSON_HEADERS, json, post, type Statement, send } from "./request.js"
import { MAX_BODY_BYTES } from "./server.js"

/** A body that is made chunk by chunk, of a length that nothing announces. */
function chunked(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 16_384)
      left -= size
      if (size === 0) controller.close()
      else controller.enqueue(new Uint8Array(size).fill(0x20))
    },
  })
}

const hello = modernRequest(9, "server/discover")

const refusals: readonly Statement[] = [
  ...["GET", "DELETE", "PUT"].map(
    (method): Statement => [
      `${method} is refused with 405, and Allow says POST`,
      async (fetch) => {
        const response = await fetch("/mcp", { method, headers: { accept: "text/event-stream" } })
        expect(response.headers.get("allow")).toBe("POST")
        await expectRefusal(response, 405, -32600, "method_not_allowed")
      },
    ],
  ),
  [
    "another path is refused with 404",
    async (fetch) => {
      const response = await fetch("/other?to=/mcp", { method: "POST", headers: JSON_HEADERS, body: "{}" })
      await expectRefusal(response, 404, -32600, "path_not_found")
    },
  ],
  [
    "a query does not make another path",
    async (fetch) => {
      const headers = { ...JSON_HEADERS, ...modernHeaders(hello) }
      const response = await fetch("/mcp?trace=a/b", { method: "POST", headers, body: JSON.stringify(hello) })
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a host that is not listed is refused with 403",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, {}, { host: "localhost" }), 403, -32600, "host_not_allowed"),
  ],
  [
    "a web page whose origin is not listed is refused with 403",
    async (fetch) => {
      for (const origin of ["https://evil.example", "null", "http://127.0.0.1:3000"]) {
        await expectRefusal(await send(fetch, hello, { origin }), 403, -32600, "origin_not_allowed")
      }
    },
  ],
  [
    "a web page whose origin is listed is served",
    async (fetch) => {
      const response = await send(fetch, hello, { origin: "https://app.example", "sec-fetch-site": "cross-site" })
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a cross-site request without an origin is refused with 403",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, { "sec-fetch-site": "cross-site" }), 403, -32600, "cross_site"),
  ],
  [
    "a caller whom the gate does not know is refused with 401 and a challenge",
    async (fetch) => {
      const response = await send(fetch, hello, { authorization: "Bearer wrong" })
      expect(response.headers.get("www-authenticate")).toBe("Bearer")
      await expectRefusal(response, 401, -32600, "unauthenticated")
    },
  ],
  [
    "another media type is refused with 415",
    async (fetch) => {
      for (const type of ["text/plain", "application/json; charset=latin1", "application/jsonp"]) {
        const response = await send(fetch, hello, { "content-type": type })
        await expectRefusal(response, 415, -32600, "unsupported_media_type")
      }
    },
  ],
  [
    "an encoded body is refused with 415",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, { "content-encoding": "gzip" }), 415, -32600, "unsupported_encoding"),
  ],
  [
    "a client that takes neither JSON nor event streams is refused with 406",
    async (fetch) => expectRefusal(await send(fetch, hello, { accept: "text/html" }), 406, -32600, "not_acceptable"),
  ],
  [
    "a body that announces too much is refused with 413",
    async (fetch) => expectRefusal(await post(fetch, " ".repeat(MAX_BODY_BYTES + 1)), 413, -32600, "body_too_large"),
  ],
  [
    "a body that announces nothing is refused with 413 as soon as it is too long",
    async (fetch) => {
      const response = await post(fetch, chunked(MAX_BODY_BYTES + 16_384), {}, { duplex: "half" })
      await expectRefusal(response, 413, -32600, "body_too_large")
    },
  ],
  [
    "a body that announces nothing and is short enough is read",
    async (fetch) => {
      const stream = new Blob([JSON.stringify(hello)]).stream()
      const response = await post(fetch, stream, modernHeaders(hello), { duplex: "half" })
      expect(await json(response)).toMatchObject({ id: 9, result: { resultType: "complete" } })
    },
  ],
  [
    "a body of many pieces is put together, characters that were cut apart too",
    async (fetch) => {
      const message = callRequest("forecast", { city: "🌊".repeat(4_000) })
      const bytes = new TextEncoder().encode(JSON.stringify(message))
      let at = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(bytes.slice(at, at + 997))
          at += 997
          if (at >= bytes.length) controller.close()
        },
      })
      const response = await post(fetch, stream, modernHeaders(message), { duplex: "half" })
      expect((await json(response))["result"]).toMatchObject({ structuredContent: { city: "🌊".repeat(4_000) } })
    },
  ],
]

const malformed: readonly Statement[] = [
  [
    "malformed JSON and an empty body are refused with 400",
    async (fetch) => {
      for (const body of ["{", "", "undefined"]) {
        await expectRefusal(await post(fetch, body), 400, -32700, "parse_error")
      }
    },
  ],
  [
    "a body that is not UTF-8 is refused with 400",
    async (fetch) => {
      const bytes = new TextEncoder().encode(JSON.stringify(hello).replace("server", "s\u0001rver"))
      bytes[bytes.indexOf(1)] = 0xff
      await expectRefusal(await post(fetch, bytes, modernHeaders(hello)), 400, -32700, "invalid_utf8")
    },
  ],
  [
    "a leading byte order mark is not part of the message",
    async (fetch) => {
      const response = await post(fetch, `\ufeff${JSON.stringify(hello)}`, modernHeaders(hello))
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a batch is refused with 400",
    async (fetch) => expectRefusal(await post(fetch, JSON.stringify([hello])), 400, -32600, "batch_unsupported"),
  ],
  [
    "a refusal has the id of the request, and none when there was none to read",
    async (fetch) => {
      const refused = await json(await send(fetch, { ...hello, method: "no/such/method" }))
      expect(refused).toMatchObject({ id: 9, error: { code: -32601 } })
      expect(await json(await post(fetch, "{"))).not.toHaveProperty("id")
    },
  ],
  [
    "headers that differ from the body, or are missing, are refused with 400",
    async (fetch) => {
      const message = callRequest("forecast", { city: "Oslo" })
      const wrong: readonly Headers[] = [
        { "mcp-protocol-version": "2025-11-25" },
        { "mcp-method": "tools/list" },
        { "mcp-name": "measure" },
      ]
      for (const headers of wrong) {
        await expectRefusal(await send(fetch, message, headers), 400, -32020, "header_mismatch")
      }
      await expectRefusal(await post(fetch, JSON.stringify(message)), 400, -32020, "header_mismatch")
    },
  ],
  [
    "a version that is not served is refused with the ones that are",
    async (fetch) => {
      const { params } = hello as { params: { _meta: Json } }
      const _meta = { ...params._meta, "io.modelcontextprotocol/protocolVersion": "2027-01-01" }
      const response = await send(fetch, { ...hello, params: { _meta } }, { "mcp-protocol-version": "2027-01-01" })
      expect(response.status).toBe(400)
      expect((await json(response))["error"]).toMatchObject({
        code: -32022,
        data: { supported: ["2026-07-28", "2025-11-25", "2025-06-18"], requested: "2027-01-01" },
      })
    },
  ],
]

/** Every refusal. */
export const refused: readonly Statement[] = [...refusals, ...malformed]
