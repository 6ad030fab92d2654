/** What 2026-07-28 asks of a server on its two transports. */
import { modern, type Requirement } from "./requirement.js"

const http = (anchor: string): string => modern(`basic/transports/streamable-http#${anchor}`)

export const stdio: readonly Requirement[] = [
  {
    id: "utf-8",
    rule: "Messages are UTF-8 both ways, and bytes that are not are refused.",
    spec: modern("basic/transports/index#messages"),
    tests: [
      "transport/stdio-lines.test.ts: bytes that are not UTF-8",
      "transport/stdio-lines.test.ts: puts characters together that come one byte per write",
      "fuzz/corpus.ts: odd texts",
    ],
  },
  {
    id: "custom-transports",
    rule: "A transport of one's own carries the same messages in the same patterns.",
    spec: modern("basic/transports/index#custom-transports"),
    tests: ["fuzz/classes.test.ts: %s"],
  },
  {
    id: "stdio-one-line",
    rule: "A message is one line, and no line break stands within it.",
    spec: modern("basic/transports/stdio"),
    tests: [
      "transport/stdio-lines.test.ts: writes characters beyond ASCII as UTF-8, and a line break within a text as an escape",
    ],
  },
  {
    id: "stdio-stdout-clean",
    rule: "Nothing but messages stands on stdout.",
    spec: modern("basic/transports/stdio"),
    tests: [
      "transport/stdio-guard.test.ts: goes to stderr and not to stdout (%s)",
      "transport/stdio-guard.test.ts: goes to stderr with %s",
      "fuzz/stdio.test.ts: whatever is written to the input of a process is answered by the rules, and leaves nothing behind",
    ],
  },
  {
    id: "no-server-requests",
    rule: "A server sends no requests on any transport: it asks by the result of a call.",
    spec: modern("basic/transports/stdio#receiving-messages"),
    tests: [
      "spec/server.test.ts: sends no request, and asks by its result alone: in memory, over HTTP and on standard streams",
    ],
  },
  {
    id: "stdio-cancelled",
    rule: "Nothing more is written for a request that the client cancelled.",
    spec: modern("basic/transports/stdio#cancellation"),
    tests: ["transport/stdio-messages.test.ts: aborts the handler, writes nothing for the id and releases it (%s)"],
  },
]

export const streamableHttp: readonly Requirement[] = [
  {
    id: "http-one-endpoint",
    rule: "There is one path that takes POST.",
    spec: http("streamable-http"),
    tests: ["transport/http-node.test.ts: %s %s is %i"],
  },
  {
    id: "http-origin",
    rule: "The Origin is checked on every connection and route, and a wrong one is 403.",
    spec: http("security-%26-endpoint"),
    tests: [
      "transport/http-node.test.ts: a foreign Origin",
      "transport/http-node.test.ts: a mounted handler guards what comes in through a loopback address",
      "transport/serve.test.ts: are behind the guard: %s is 403",
      "transport/front-cors.test.ts: is 403 for every other page, which cannot read that either",
      "core/http/guard.test.ts: holds for any text in any of the three",
    ],
  },
  {
    id: "http-single-message",
    rule: "A POST holds one request or notification; a batch or a response is refused.",
    spec: http("sending-messages"),
    tests: [
      "server/initialize.test.ts: a batch is refused as one, without an id",
      "spec/server.test.ts: takes no response, which nobody may send",
    ],
  },
  {
    id: "http-notification-accepted",
    rule: "A notification that is accepted is 202 without a body.",
    spec: http("sending-messages"),
    tests: ["transport/http-node.test.ts: a notification is 202 without a body or a type"],
  },
  {
    id: "http-notification-refused",
    rule: "A notification that is not accepted is an HTTP error.",
    spec: http("sending-messages"),
    tests: [
      "core/negotiate/inbound.test.ts: a notification that says nothing at all",
      "fuzz/classes.test.ts: whatever %s says, once or twice",
    ],
  },
  {
    id: "http-answer-form",
    rule: "A request is answered with one JSON object or an event stream.",
    spec: http("sending-messages"),
    tests: ["transport/http-node.test.ts: Accept: %s gives %s and %i messages when a handler reports progress"],
  },
  {
    id: "http-stream-of-one-request",
    rule: "What stands on the stream of a request belongs to that request.",
    spec: http("receiving-messages"),
    tests: [
      "server/context.test.ts: goes to nobody but the call that it is of",
      "spec/server.test.ts: says nothing of one request on the stream of another: no log and no progress on a listen stream",
      "server/isolation.test.ts: get their own answers in the modern era, each with its own progress and log",
    ],
  },
  {
    id: "http-close-cancels",
    rule: "A client that closes the connection cancels its request, and nothing more is sent for it.",
    spec: http("cancellation"),
    tests: [
      "server/cancellation.test.ts: is cancelled in the modern era when its connection closes, before anything was sent",
      "server/cancellation.test.ts: is cancelled in the modern era when its event stream closes",
      "transport/http-node.test.ts: cancels a modern request, and nothing more is written for it",
    ],
  },
  {
    id: "http-version-header",
    rule: "The version header is there and equals the version in the body, or the request is 400 with -32020.",
    spec: http("protocol-version-header"),
    tests: [
      "server/discover.test.ts: whose header says another version",
      "server/discover.test.ts: without %s is refused",
      "server/discover.test.ts: of no version at all, and of no session, is refused with -32020",
    ],
  },
  {
    id: "http-version-unsupported",
    rule: "A version that is not served is 400 with -32022.",
    spec: http("protocol-version-header"),
    tests: [
      "server/discover.test.ts: of a version that is not served",
      "server/discover.test.ts: of a version that is none",
    ],
  },
  {
    id: "http-method-unknown",
    rule: "A method that is not served is 404 with -32601.",
    spec: http("protocol-version-header"),
    tests: [
      "server/discover.test.ts: of an unknown method",
      "server/lists.test.ts: is 404 in the modern era and an error on 200 in the legacy era: %s",
    ],
  },
  {
    id: "http-standard-headers",
    rule: "Mcp-Method is on every request, and Mcp-Name where something is named.",
    spec: http("standard-request-headers"),
    tests: ["server/discover.test.ts: without %s is refused", "core/negotiate/inbound.test.ts: no Mcp-Name"],
  },
  {
    id: "http-value-encoding",
    rule: "A value in base64 between its markers, which have one spelling, is decoded before it is compared.",
    spec: http("value-encoding"),
    tests: [
      "server/tools.test.ts: have company in Mcp-Name, which may be encoded too",
      "core/http/header.test.ts: %s is read as it should be",
      "core/http/header.test.ts: %s is refused",
    ],
  },
  {
    id: "http-param-headers",
    rule: "A header that repeats an argument equals it after decoding, or the request is 400 with -32020.",
    spec: http("server-behavior-for-custom-headers"),
    tests: ["server/tools.test.ts: are compared on modern HTTP: %s", "core/http/param.test.ts: are refused: %s"],
  },
  {
    id: "http-param-invalid",
    rule: "Such a header with characters that none may have is refused.",
    spec: http("server-behavior-for-custom-headers"),
    tests: ["core/http/param.test.ts: raw Latin-1", "core/http/param.test.ts: invalid base64"],
  },
  {
    id: "http-param-absent",
    rule: "For an argument that is null or not there no header is expected, and for one that is there it must not be missing.",
    spec: http("server-behavior-for-custom-headers"),
    tests: [
      "core/http/param.test.ts: null in the body",
      "core/http/param.test.ts: nothing on either side",
      "core/http/param.test.ts: missing, with a value in the body",
    ],
  },
  {
    id: "http-header-names",
    rule: "Headers are found by name in any case, and their values are compared as they are.",
    spec: http("case-sensitivity"),
    tests: ["spec/server.test.ts: reads its headers by name in any case, and their values as they are"],
  },
  {
    id: "http-headers-match",
    rule: "Headers that differ from the body are 400 with -32020 and the id of the request.",
    spec: http("server-validation"),
    tests: [
      "server/discover.test.ts: whose Mcp-Method says another method",
      "core/negotiate/inbound.test.ts: another Mcp-Name",
      "core/negotiate/inbound.test.ts: an Mcp-Name sent twice",
    ],
  },
  {
    id: "http-no-session",
    rule: "A session that a modern request names is ignored, and none is given.",
    spec: http("earlier-streamable-http-revisions"),
    tests: [
      "server/sessions.test.ts: is not looked at on a modern request",
      "server/sessions.test.ts: is named by nothing but the answer to initialize",
    ],
  },
]
