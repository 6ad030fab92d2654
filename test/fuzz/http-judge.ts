/** What may come back over HTTP, whatever was sent. */
import { type HttpReply, headerOf } from "./http-door.js"
import type { HttpRequest } from "./http-request.js"
import { assert, type Due, type Json, judgeAnswer, judgeMessage, reasonOf } from "./judge.js"
import type { Peer } from "./peer.js"

const STATUSES = new Set([200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 415, 417, 431, 503])
/** What a server's HTTP parser says by itself, before there is a request. */
const BARE = new Set([400, 408, 413, 417, 431])
/** What may come behind an answer: the parser's word that what is left is no request. */
const NOTHING_MORE = /^(HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n)?$/

/** One thing on an event stream. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly data: string | undefined
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** Reads the whole events of a stream. Fails on any line that a server of this protocol does not write. */
export function readEvents(body: Buffer): readonly StreamEvent[] {
  const text = body.subarray(0, body.lastIndexOf("\n\n") + 1).toString("utf8")
  assert(!text.includes("\r"), "a stream has one kind of line break", text)
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const lines = block.replace(/\n$/, "").split("\n")
      for (const line of lines) {
        assert(/^(:.*|data:( \{.*\})?|id: [\x21-\x7e]+|retry: \d+)$/s.test(line), "a line is one of those known", line)
      }
      const data = lines.filter((line) => line.startsWith("data:"))
      assert(data.length <= 1, "an event has one message", block)
      const id = lines.find((line) => line.startsWith("id: "))?.slice(4)
      return { id, data: data[0]?.slice(6) || undefined }
    })
}

/** The messages of a reply, as far as it came. */
export function messagesOf(reply: Pick<HttpReply, "headers">, body: Buffer, isWhole: boolean): readonly Json[] {
  const type = headerOf(reply, "content-type")
  if (type === "text/event-stream") {
    return readEvents(body).flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as Json]))
  }
  return type === "application/json" && isWhole && body.length > 0 ? [JSON.parse(decoder.decode(body)) as Json] : []
}

/** Fails unless a reply fits its request. `mayBeSilent` says that the call may have been cancelled by another message. */
export function judgeReply(
  request: HttpRequest,
  due: Due,
  reply: HttpReply,
  peer: Peer,
  mayBeSilent: boolean,
): readonly Json[] {
  const { status, headers, body, ended } = reply
  assert(STATUSES.has(status), `the status ${status} is one that is meant`, { request, body: body.toString("latin1") })
  assert(NOTHING_MORE.test(reply.rest.toString("latin1")), "nothing is served behind an answer", String(reply.rest))
  const names = headers.map(([name]) => name.toLowerCase())
  assert(!names.some((name) => name === "set-cookie" || name === "x-injected"), "no header was put in", headers)
  const type = headerOf(reply, "content-type")
  if (type === undefined) {
    assert(body.length === 0, "what has no type has no body", body.toString("latin1"))
    assert(
      BARE.has(status) || status === 202 || status === 204 || request.method === "HEAD",
      "a body is missing",
      reply,
    )
    return []
  }
  assert(names.includes("x-content-type-options"), "security headers are on every answer", headers)
  assert(type === "application/json" || type === "text/event-stream", "the type is one of two", type)
  const messages = messagesOf(reply, body, ended)
  for (const message of messages) judgeMessage(message, peer)
  const answers = messages.filter((message) => !Object.hasOwn(message, "method"))
  assert(answers.length <= 1, "a request has one answer", answers)
  const versions = request.headers.filter(([name]) => name.toLowerCase() === "mcp-protocol-version")
  const version = versions.length === 0 ? undefined : versions.map(([, value]) => value).join(", ")
  for (const answer of answers) {
    if (request.method === "POST") judgeAnswer(due, answer, version)
    else assert(request.method === "GET" || answer["id"] === undefined, "only a message has an id", answer)
    if (status === 503) {
      assert(["overloaded", "draining"].includes(reasonOf(answer)), "503 is said of a reason", answer)
      assert(names.includes("retry-after"), "503 says when to come again", headers)
    }
  }
  if (ended && request.method !== "HEAD") {
    const isOwed = answers.length === 1 || mayBeSilent || request.method === "GET"
    assert(isOwed, "a request is answered before its stream ends", { status, messages })
  }
  return messages
}
