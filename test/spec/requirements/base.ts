/** What 2026-07-28 asks of every server: messages, errors, metadata, schemas, versions. */
import { modern, type Requirement } from "./requirement.js"

export const base: readonly Requirement[] = [
  {
    id: "json-rpc",
    rule: "Every message that a server sends is one JSON-RPC 2.0 message.",
    spec: modern("basic/index#messages"),
    tests: [
      "fuzz/memory.test.ts: whatever is sent on pairs in memory is answered by the rules, reaches nobody else, and leaves nothing behind",
      "spec/protocol-page.test.ts: a success response",
    ],
  },
  {
    id: "request-id-kind",
    rule: "An id is a text or an integer and never null; anything else is no request.",
    spec: modern("basic/index#requests"),
    tests: [
      "core/wire/parse.test.ts: id null",
      "core/wire/parse.test.ts: a fraction as id",
      "core/wire/parse.test.ts: an id beyond the safe range",
      "fuzz/corpus.ts: odd ids",
    ],
  },
  {
    id: "request-id-in-flight",
    rule: "The id of a request that is not answered yet cannot be taken by another one of the same sender.",
    spec: modern("basic/index#requests"),
    tests: [
      "server/isolation.test.ts: may not share an id while it is in flight, whatever its type looks like",
      "transport/stdio-messages.test.ts: in flight are refused to a newcomer, and the first completes (%s)",
      "server/sessions.test.ts: are taken while they are in flight: the newcomer is refused, the first completes",
    ],
  },
  {
    id: "result-id",
    rule: "A result has the id of its request, with its type.",
    spec: modern("basic/index#result-responses"),
    tests: [
      "transport/stdio-messages.test.ts: come back with their type",
      "fuzz/http-node.test.ts: whatever is sent over node:http is answered by the rules, reaches nobody else, and leaves nothing behind",
    ],
  },
  {
    id: "result-type",
    rule: "Every result is there and says its type: complete, or input_required.",
    spec: modern("basic/index#resulttype"),
    tests: [
      "server/discover.test.ts: says its type and its server: %s",
      "server/input/replay.test.ts: is the answer of the call, of type input_required, with a state",
      "server/revisions.test.ts: results say of themselves what the revision asks for",
    ],
  },
  {
    id: "error-id",
    rule: "An error has the id of its request, and none at all when that could not be read.",
    spec: modern("basic/index#error-responses"),
    tests: [
      "server/discover.test.ts: %s is refused with its id",
      "spec/protocol-page.test.ts: an error response to a request whose id could not be read has no id, which is never null",
      "core/negotiate/inbound.test.ts: a response is never refused by its id (%s, session %s)",
    ],
  },
  {
    id: "error-form",
    rule: "An error has a code, which is an integer, and a message.",
    spec: modern("basic/index#error-responses"),
    tests: [
      "spec/protocol-page.test.ts: an error response",
      "server/tool-results.test.ts: is an error of the protocol when it is a McpError with the code %d",
    ],
  },
  {
    id: "error-codes-old-range",
    rule: "Nothing between -32000 and -32019 leaves in the modern era.",
    spec: modern("basic/index#error-codes"),
    tests: [
      "server/discover.test.ts: never brings a legacy code, whatever goes wrong",
      "server/tool-results.test.ts: is an error of the protocol when it is a McpError with the code %d",
      "fuzz/http-fetch.test.ts: whatever is sent to a fetch handler is answered by the rules, reaches nobody else, and leaves nothing behind",
    ],
  },
  {
    id: "error-codes-reserved-range",
    rule: "Of the codes that are kept for the specification only those that it defines leave, each for what it means.",
    spec: modern("basic/index#error-codes"),
    tests: [
      "spec/protocol-page.test.ts: the named error codes",
      "server/tool-results.test.ts: is an error of the protocol when it is a McpError with the code %d",
    ],
  },
  {
    id: "error-codes-retired",
    rule: "The codes of older revisions for a missing resource and for a question at a page do not leave in the modern era.",
    spec: modern("basic/index#error-codes"),
    tests: [
      "server/revisions.test.ts: a resource that is not there has the code of the revision",
      "server/tool-results.test.ts: is an error of the protocol when it is a McpError with the code %d",
    ],
  },
  {
    id: "notification-unanswered",
    rule: "A notification is never answered with a message.",
    spec: modern("basic/index#notifications"),
    tests: [
      "server/isolation.test.ts: is not even when it is malformed, so that no request of the same id is mistaken: %s",
      "transport/stdio-messages.test.ts: are never answered, known or not, well formed or not",
      "server/discover.test.ts: is accepted with 202, no body and no type: %s",
    ],
  },
  {
    id: "notification-id",
    rule: "A notification that a server sends has no id.",
    spec: modern("basic/index#notifications"),
    tests: ["spec/protocol-page.test.ts: a notification, with and without params"],
  },
  {
    id: "stateless",
    rule: "A request is served by what it says itself; nothing of an earlier request on the connection counts.",
    spec: modern("basic/index#statelessness"),
    tests: [
      "server/discover.test.ts: opens nothing: every modern request stands alone, before it and after it",
      "spec/server.test.ts: is what this request says, whatever an earlier one on the same connection said",
      "server/sessions.test.ts: is not looked at on a modern request",
    ],
  },
  {
    id: "state-by-handle",
    rule: "What lasts over several requests is named by a handle that the client sends along, on any connection and node.",
    spec: modern("basic/index#statelessness"),
    tests: ["server/input/state.test.ts: is opened on another node with the same secrets and name, and on no other"],
  },
  {
    id: "base-protocol",
    rule: "Messages, versions and all patterns are served whatever features a server has.",
    spec: modern("basic/index#overview"),
    tests: ["server/discover.test.ts: says only what there is", "server/lists.test.ts: with %s"],
  },
  {
    id: "schema-default-dialect",
    rule: "A schema that names no dialect is one of draft 2020-12, and that dialect is supported whole.",
    spec: modern("basic/index#schema-dialect"),
    tests: [
      "schema/lint.test.ts: the breadth of 2020-12",
      "schema/interpreter.test.ts: items of 2020-12 follow prefixItems",
    ],
  },
  {
    id: "schema-declared-dialect",
    rule: "A schema is read in the dialect that it names, and one that is not supported is refused by name.",
    spec: modern("basic/index#implementation-requirements"),
    tests: [
      "schema/lint.test.ts: %s is %s",
      "schema/lint.test.ts: %j is refused, and the error names those that are supported",
      "server/tools.test.ts: in the dialect that its schema names, references and all",
    ],
  },
  {
    id: "schema-valid",
    rule: "A schema that is not valid in its dialect is refused where it is given.",
    spec: modern("basic/index#schema-validation"),
    tests: [
      "schema/lint.test.ts: a type that does not exist",
      "schema/lint.test.ts: null as a schema",
      "schema/lint.test.ts: lets nothing through that the interpreter cannot work with",
    ],
  },
  {
    id: "schema-no-network",
    rule: "No reference in a schema is ever fetched, and there is no option that would.",
    spec: modern("basic/index#ref-resolution"),
    tests: [
      "schema/lint.test.ts: a remote reference",
      "schema/lint.test.ts: a reference to a file",
      "schema/lint.test.ts: a reference without a scheme",
      "schema/lint.test.ts: a dynamic reference to nowhere",
    ],
  },
  {
    id: "meta-key-grammar",
    rule: "A key of _meta is a name, behind labels with dots between them and a slash where it has a prefix.",
    spec: modern("basic/index#_meta"),
    tests: ["core/feature/meta-key.test.ts: %j is valid", "core/feature/meta-key.test.ts: %j is not valid"],
  },
  {
    id: "meta-reserved",
    rule: "Keys that the protocol keeps for itself mean what it says, and a handler cannot overwrite them.",
    spec: modern("basic/index#_meta"),
    tests: [
      "core/feature/meta-key.test.ts: %j is reserved: %j, dropped by a client: %j",
      "server/tool-results.test.ts: is its type and its server in the modern era, whatever a handler puts into _meta",
    ],
  },
  {
    id: "meta-required",
    rule: "A request without a version or capabilities in _meta is -32602, over HTTP with 400.",
    spec: modern("basic/index#_meta"),
    tests: [
      "server/discover.test.ts: without a version in _meta",
      "server/discover.test.ts: without capabilities",
      "core/negotiate/inbound.test.ts: a request without _meta before initialize is told which member is missing",
    ],
  },
  {
    id: "capability-undeclared",
    rule: "What a client did not declare is not used; a request that needs it is -32021 with what is missing, over HTTP with 400.",
    spec: modern("basic/index#_meta"),
    tests: [
      "server/input/capability.test.ts: is asked, or refused with -32021 that names the leaf, in the modern era",
      "server/input/capability.test.ts: is 400 as long as nothing was written, and an event of the stream after that",
      "server/raised-error.test.ts: thrown by %s is HTTP 400",
    ],
  },
  {
    id: "capability-not-inferred",
    rule: "Capabilities are those of the request, never those of an earlier one.",
    spec: modern("schema#requestmetaobject"),
    tests: ["spec/server.test.ts: is what this request says, whatever an earlier one on the same connection said"],
  },
  {
    id: "client-info-for-display",
    rule: "What a client calls itself changes nothing of how it is served.",
    spec: modern("basic/index#_meta"),
    tests: [
      "server/discover.test.ts: is served without client info, which is for display only",
      "server/discover.test.ts: is served whatever client info says (%j)",
    ],
  },
  {
    id: "trace-context",
    rule: "A trace that a caller names counts only in the form of W3C Trace Context.",
    spec: modern("basic/index#_meta"),
    tests: [
      "core/feature/traceparent.test.ts: %s is not",
      "server/events.test.ts: tells the trace that its caller is in when that is well formed",
    ],
  },
  {
    id: "version-unsupported",
    rule: "A version that is not served is -32022, with those that are and the one that came.",
    spec: modern("basic/versioning#protocol-version-negotiation"),
    tests: [
      "server/discover.test.ts: of a version that is not served is told which are, and which came",
      "core/negotiate/inbound.test.ts: a refused version names all that are served",
    ],
  },
  {
    id: "discover-implemented",
    rule: "Every server answers server/discover, one written by hand too.",
    spec: modern("server/discover"),
    tests: [
      "server/discover.test.ts: says everything that a client has to know, in one result",
      "server/manual.test.ts: is still the library's: discover, initialize and ping are answered",
    ],
  },
  {
    id: "extension-names",
    rule: "An extension is named like a key of _meta, with a prefix.",
    spec: modern("basic/versioning#extension-negotiation"),
    tests: [
      "server/builder.test.ts: with an extension without a prefix",
      "server/builder.test.ts: with an extension whose prefix is none",
    ],
  },
  {
    id: "extension-one-sided",
    rule: "A client with an extension that the server lacks gets the protocol itself.",
    spec: modern("basic/versioning#extension-negotiation"),
    tests: [
      "spec/server.test.ts: may be an extension that the server does not know, which then serves the protocol itself",
    ],
  },
  {
    id: "both-eras",
    rule: "A request with a version in _meta is modern, initialize opens the legacy era, and both live on one endpoint.",
    spec: modern("basic/versioning#backward-compatibility-with-initialization-based-versions"),
    tests: [
      "server/initialize.test.ts: a pipe goes on to serve modern requests, and either may come at any time",
      "transport/stdio-messages.test.ts: are told apart by the message, not by what came before",
      "core/negotiate/inbound.test.ts: a request that names a modern version",
    ],
  },
]
