/** What has been attacked in servers elsewhere, and how this one answers. */
import type { Requirement } from "./requirement.js"

const AUTH = "comes with authorization"

export const attacks: readonly Requirement[] = [
  {
    id: "attack-dns-rebinding",
    rule: "A page whose name leads to this machine is refused by its Host and by its Origin, on loopback by default.",
    tests: [
      "core/http/guard.test.ts: %j is refused",
      "transport/http-node.test.ts: a foreign Host",
      "transport/http-node.test.ts: a foreign Origin",
    ],
  },
  {
    id: "attack-unguarded-route",
    rule: "The guard stands before every route: probes, documents, mounted handlers, the deprecated transport.",
    tests: [
      "transport/serve.test.ts: are behind the guard: %s is 403",
      "transport/http-node.test.ts: a mounted handler guards what comes in through a loopback address",
      "server/auth.test.ts: does not see a request that its guard refuses",
    ],
  },
  {
    id: "attack-simple-cross-site-post",
    rule: "A page cannot post without a preflight: another media type is 415, and a cross-site request is refused on any address.",
    tests: [
      "transport/http-node.test.ts: another media type",
      "transport/http-node.test.ts: a cross-site request",
      "core/http/guard.test.ts: cross-site, elsewhere",
    ],
  },
  {
    id: "attack-template-backtracking",
    rule: "No uri makes a template take long, and templates are bounded.",
    tests: [
      "core/feature/uri-match.test.ts: is bounded for %s",
      "core/feature/uri-expand.test.ts: because of %s says why",
      "fuzz/corpus.ts: uris that are long, odd or lead elsewhere",
    ],
  },
  {
    id: "attack-shared-transport",
    rule: "A hundred clients with the same ids at once get their own answers.",
    tests: [
      "server/isolation.test.ts: get their own answers in the modern era, each with its own progress and log",
      "server/isolation.test.ts: get their own answers in sessions of their own",
      "server/isolation.test.ts: get their own answers on pipes of their own",
    ],
  },
  {
    id: "attack-foreign-task",
    rule: "Somebody else's task is answered like an unknown one, and no list of all tasks exists.",
    later: "tasks are built with the extension",
  },
  {
    id: "attack-malformed-body",
    rule: "A malformed body is a parse error or an invalid request, and the process lives.",
    tests: [
      "core/wire/parse.test.ts: never throws, whatever the bytes",
      "fuzz/corpus.ts: wrong types",
      "fuzz/http-node.test.ts: whatever is sent over node:http is answered by the rules, reaches nobody else, and leaves nothing behind",
    ],
  },
  {
    id: "attack-close-mid-write",
    rule: "A client that closes in the middle of a stream harms nobody.",
    tests: [
      "server/cancellation.test.ts: is cancelled in the modern era when its event stream closes",
      "transport/front-readers.test.ts: a stream for which too much waits is dropped, and its call aborted",
    ],
  },
  {
    id: "attack-raw-bytes-on-pipe",
    rule: "Bytes that are no text are a parse error, and the pipe goes on.",
    tests: ["transport/stdio-lines.test.ts: bytes that are not UTF-8", "fuzz/corpus.ts: a byte order mark of UTF-16"],
  },
  {
    id: "attack-second-handshake",
    rule: "A second handshake is refused and changes nothing.",
    tests: [
      "server/initialize.test.ts: on a pipe is refused, and changes nothing",
      "server/initialize.test.ts: in a live session is refused, and without one opens another",
    ],
  },
  {
    id: "attack-id-taken-over",
    rule: "Who reuses an id in flight is refused, the first request completes, and nothing stays behind.",
    tests: [
      "server/isolation.test.ts: may not share an id while it is in flight, whatever its type looks like",
      "server/cancellation.test.ts: answers every call once, unless it was cancelled, and refuses an id only while it is taken",
    ],
  },
  {
    id: "attack-keys-in-another-case",
    rule: "Keys are compared as they are; a key in another case or alphabet is another key.",
    tests: [
      "core/wire/parse.test.ts: unknown members at the top",
      "fuzz/corpus.ts: keys and names that only look the same",
    ],
  },
  {
    id: "attack-keys-twice",
    rule: "A key that stands twice at the top or under params is refused, since two readers see two messages.",
    tests: [
      "core/wire/parse.test.ts: the method twice",
      "core/wire/parse.test.ts: a key twice under params",
      "fuzz/corpus.ts: keys that stand twice",
    ],
  },
  {
    id: "attack-stolen-session",
    rule: "A session is its owner's: another caller gets what an unknown session gets, and the owner's stream stays.",
    tests: [
      "transport/standby.test.ts: is nobody else's: another principal is told what an unknown session is told, and the owner's stays",
      "server/auth.test.ts: is not there for %s, and is untouched",
      "fuzz/http-fetch.test.ts: whatever is sent to a fetch handler is answered by the rules, reaches nobody else, and leaves nothing behind",
    ],
  },
  {
    id: "attack-guessed-session",
    rule: "The id of a session has at least 128 random bits.",
    tests: [
      "server/sessions.test.ts: begins with initialize, which names it in 128 random bits or more of visible ASCII",
    ],
  },
  {
    id: "attack-shared-cache",
    rule: "Nothing may be kept by others unless the server says so.",
    tests: ["server/lists.test.ts: is not at all, and by the caller only, when the server says nothing"],
  },
  {
    id: "attack-names-of-every-object",
    rule: "Names that every object has are unknown unless they were defined.",
    tests: [
      "server/tools.test.ts: that is not defined is invalid params: %j",
      "server/prompts.test.ts: that is not defined is invalid params: %j",
      "fuzz/corpus.ts: names that every object has",
    ],
  },
  {
    id: "attack-prototype-pollution",
    rule: "No key reaches a prototype: the one that could is refused before the message is parsed.",
    tests: [
      "core/wire/parse.test.ts: __proto__ in arguments",
      "core/wire/parse.test.ts: __proto__ with escapes",
      "transport/http-node.test.ts: a parsed body is held to the bounds of any other (%s)",
      "fuzz/corpus.ts: keys that reach for prototypes",
    ],
  },
  {
    id: "attack-endless-body",
    rule: "A body is limited while it is read, whatever length it said.",
    tests: [
      "transport/http-node.test.ts: a body of unknown length is cut off at the limit",
      "transport/http-node.test.ts: an announced length over the limit is refused before the body comes",
    ],
  },
  {
    id: "attack-slow-body",
    rule: "A body that does not come in time is refused, and its connection let go.",
    tests: [
      "transport/front-body.test.ts: a body that %s is refused with 408",
      "transport/front-body.test.ts: a body that comes byte by byte has no more time than any other",
      "transport/serve.test.ts: with its headers loses its connection",
    ],
  },
  {
    id: "attack-reads-nothing",
    rule: "A client that reads nothing loses its stream, and holds no more memory than the cap.",
    tests: [
      "transport/front-readers.test.ts: a reader that takes nothing of a stream for too long loses it, though its handler waits politely",
      "server/listen.test.ts: costs no more than what it was not told, once for each change",
    ],
  },
  {
    id: "attack-encoded-body",
    rule: "A body that is compressed is refused unread.",
    tests: ["transport/http-node.test.ts: an encoded body", "fuzz/classes.test.ts: when its body is %s"],
  },
  {
    id: "attack-smuggled-request",
    rule: "A body that is longer than it said is no second request.",
    tests: ["fuzz/classes.test.ts: when its body is %s", "fuzz/classes.test.ts: whatever %s says, once or twice"],
  },
  {
    id: "attack-sessions-without-end",
    rule: "Sessions are capped, in all and for each caller, and an unknown id takes no room.",
    tests: [
      "server/sessions.test.ts: refuses one more with 503 and a word when to come back, and serves those that it has",
      "server/sessions.test.ts: gives one caller no more than its share, and idle ones back",
      "server/sessions.test.ts: takes no room",
    ],
  },
  {
    id: "attack-streams-without-end",
    rule: "Streams and subscriptions are capped, and ten thousand idle ones fit in memory.",
    tests: [
      "server/listen.test.ts: streams may be as many as limits.maxListens says, and resources as limits.maxSubscriptions",
      "server/listen.test.ts: each principal has limits.maxListensPerPeer streams, and takes none from another",
      "load/idle-listens.test.ts: 10,000 idle listen streams fit in 400 MB, all hear of a change, none twice, and the heap returns without them",
    ],
  },
  {
    id: "attack-change-storm",
    rule: "A storm of changes is told once in each interval.",
    tests: [
      "server/listen.test.ts: a burst of the same change is heard once at once, and once behind it",
      "server/stream/audience.test.ts: over time is one notice at once and one for each interval, the last behind the last change",
    ],
  },
  {
    id: "attack-event-store-growth",
    rule: "What is kept for clients that come back is bounded and forgotten.",
    tests: [
      "store/events.test.ts: keep no more than they may, and take nothing from each other",
      "store/events.test.ts: is forgotten after a while without another event",
    ],
  },
  {
    id: "attack-replay-of-others",
    rule: "A stream is kept under its caller, session and number, and everybody else gets the same 404.",
    tests: [
      "transport/resumability.test.ts: gets nothing of another session's stream, nor of another principal's, and the owner loses nothing",
      "transport/resumability.test.ts: is told that its session is unknown when the event %s",
    ],
  },
  {
    id: "attack-session-in-logs",
    rule: "Of the id of a session nobody who watches sees more than its beginning.",
    tests: ["transport/events.test.ts: tells who calls, and of a session only how its id begins"],
  },
  {
    id: "attack-line-without-end",
    rule: "A peer that never ends its line fills no memory.",
    tests: [
      "transport/stdio-lines.test.ts: close the pipe once four caps have come without a line break",
      "core/wire/lines.test.ts: keeps nothing of a line that is too long",
    ],
  },
  {
    id: "attack-remote-reference",
    rule: "No reference in a schema leads to the network or to a file.",
    tests: [
      "schema/lint.test.ts: a remote reference",
      "schema/lint.test.ts: a reference to a file",
      "schema/lint.test.ts: a reference to data",
    ],
  },
  {
    id: "attack-schema-bombs",
    rule: "A schema that would cost without end is refused, and the other tools are served.",
    tests: [
      "schema/lint.test.ts: references that double",
      "schema/lint.test.ts: too many subschemas",
      "schema/interpreter.test.ts: %s is an issue, at once",
    ],
  },
  {
    id: "attack-pattern-backtracking",
    rule: "A pattern that can take long is refused where it is given.",
    tests: [
      "schema/lint.test.ts: an exponential pattern",
      "schema/pattern-cost.test.ts: never takes more time than it was judged for",
    ],
  },
  {
    id: "attack-traversal",
    rule: "A variable of a template cannot climb out of its place, however often it is encoded.",
    tests: [
      "core/feature/uri-match.test.ts: is seen in what %j decodes to",
      "core/feature/uri-match.test.ts: is refused for %s",
    ],
  },
  {
    id: "attack-views-leak",
    rule: "What one caller sees is shown to no other, and only so many views are kept.",
    tests: [
      "server/view.test.ts: is for its caller alone: %s",
      "server/view.test.ts: is once for each caller, whoever comes in between and in however many connections",
    ],
  },
  {
    id: "attack-route-without-login",
    rule: "The login stands before everything but the gate's own documents, and an empty list allows nobody.",
    tests: [
      "transport/http-node.test.ts: documents of the gate are answered without a check, everything else after it",
      "server/fetch.test.ts: admits nobody when the gate fails",
    ],
  },
  {
    id: "attack-open-address",
    rule: "An address that others can reach is not bound without a login unless that is asked for.",
    tests: ["server/auth.test.ts: is not bound without authentication: %s"],
  },
  {
    id: "attack-forged-state",
    rule: "A state of another caller, tool or argument, changed, cut or expired, is refused, and the handler is not entered.",
    tests: [
      "server/input/state.test.ts: is refused with any byte changed, and the handler is not entered",
      "server/input/state.test.ts: of a call is refused for %s",
      "fuzz/corpus.ts: forged handles",
    ],
  },
  {
    id: "attack-forged-cursor",
    rule: "A cursor that is made up is refused and keeps nothing.",
    tests: [
      "core/feature/cursor.test.ts: that is %s belongs to no list",
      "server/lists.test.ts: is paid once for the pages that follow each other, and nothing is kept for a cursor that is made up",
    ],
  },
  {
    id: "attack-header-injection",
    rule: "No header and no argument puts a header into an answer.",
    tests: ["fuzz/classes.test.ts: whatever %s says, once or twice", "core/http/param.test.ts: with a line break"],
  },
  {
    id: "attack-event-injection",
    rule: "No text of a tool becomes an event of its own.",
    tests: [
      "fuzz/corpus.ts: odd texts",
      "fuzz/http-node.test.ts: whatever is sent over node:http is answered by the rules, reaches nobody else, and leaves nothing behind",
    ],
  },
  {
    id: "attack-text-shown-back",
    rule: "Text of a peer that is shown back is short and holds nothing invisible.",
    tests: [
      "server/tools.test.ts: is shown back short and without control or bidi characters",
      "core/feature/text.test.ts: is never an exception, and always short and visible",
    ],
  },
  {
    id: "attack-deep-and-wide",
    rule: "Depth and width are bounded before anything recursive looks.",
    tests: [
      "core/wire/parse.test.ts: 100,000 levels",
      "core/wire/parse.test.ts: 50,001 items",
      "fuzz/corpus.ts: what is too deep",
    ],
  },
  {
    id: "attack-form-asks-for-password",
    rule: "A form cannot ask for a password.",
    tests: ["core/feature/form.test.ts: never asks for a credential: %s"],
  },
  {
    id: "attack-rounds-without-end",
    rule: "A call has at most 32 rounds.",
    tests: [
      "server/input/replay.test.ts: may end a call at 32 rounds, and no later",
      "server/input/by-hand.test.ts: is stopped at 32 rounds",
    ],
  },
  {
    id: "attack-dependencies",
    rule: "Dependencies are few, pinned, and named with their hashes.",
    tests: ["house/repository.test.ts: pins every dependency exactly"],
  },
  {
    id: "attack-stack-in-answers",
    rule: "An exception leaves a reference for the caller, and its detail in the log alone.",
    tests: [
      "server/tool-results.test.ts: is a result with a reference and no detail when it is %s",
      "server/resources.test.ts: says nothing of why; the log does",
      "server/prompts.test.ts: says nothing of why; the log does",
    ],
  },
  {
    id: "attack-consent",
    rule: "Consent is bound to the browser and the client, and pages about it escape what they show.",
    later: AUTH,
  },
  {
    id: "attack-token-audience",
    rule: "A token for somebody else is refused.",
    later: AUTH,
  },
  {
    id: "attack-redirects-of-clients",
    rule: "Addresses that a client registers are compared exactly.",
    later: AUTH,
  },
  {
    id: "attack-inbound-fetch",
    rule: "What a server fetches for others leads to no private address.",
    later: "the guard for outbound calls comes with authorization and the client",
  },
  {
    id: "attack-forwarded-credentials",
    rule: "The caller's credential is passed on to nobody.",
    later: "the gateway that forwards calls comes with the hub",
  },
]
