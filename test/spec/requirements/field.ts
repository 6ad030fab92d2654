/** What went wrong in the field with servers, and must not with this one. */
import type { Requirement } from "./requirement.js"

const TASKS = "tasks are built with the extension"
const AUTH = "resource servers by token come with authorization"

export const field: readonly Requirement[] = [
  {
    id: "field-prints-break-stdout",
    rule: "What a handler or a module prints does not reach stdout.",
    tests: [
      "transport/stdio-guard.test.ts: goes to stderr and not to stdout (%s)",
      "transport/stdio-guard.test.ts: cannot end stdout",
      "transport/stdio-guard.test.ts: goes to stderr with %s",
    ],
  },
  {
    id: "field-json-log-line",
    rule: "A line of JSON that is no message is refused alone, and the next one is served.",
    tests: ["transport/stdio-lines.test.ts: a log line of a JSON logger"],
  },
  {
    id: "field-byte-order-mark",
    rule: "One byte order mark before a message is passed over.",
    tests: [
      "transport/stdio-lines.test.ts: strips one byte order mark from any line",
      "core/wire/parse.test.ts: a byte order mark in front",
    ],
  },
  {
    id: "field-crlf",
    rule: "Both kinds of line break end a line, wherever chunks are cut.",
    tests: [
      "transport/stdio-lines.test.ts: takes CRLF for one line break when a chunk ends between its halves",
      "core/wire/lines.test.ts: tells the same lines wherever the chunks are cut",
    ],
  },
  {
    id: "field-characters-cut",
    rule: "A character that chunks cut in pieces is one character.",
    tests: ["transport/stdio-lines.test.ts: puts characters together that come one byte per write"],
  },
  {
    id: "field-line-too-long",
    rule: "A line over the cap is refused alone; one without an end closes the pipe.",
    tests: [
      "transport/stdio-lines.test.ts: are served up to the cap, and refused alone beyond it",
      "transport/stdio-lines.test.ts: close the pipe once four caps have come without a line break",
      "transport/stdio-lines.test.ts: of twelve million bytes leave whole",
    ],
  },
  {
    id: "field-cap-per-line",
    rule: "The cap counts each line by itself, not the chunk that it came in.",
    tests: ["transport/stdio-lines.test.ts: are counted one by one, not together with others of their chunk"],
  },
  {
    id: "field-line-reader-linear",
    rule: "A long line costs no more than its bytes.",
    tests: [
      "core/wire/lines.test.ts: looks at each byte once and copies it at most once",
      "core/wire/lines.test.ts: does not grow faster than a long line does that comes in small chunks",
    ],
  },
  {
    id: "field-outlives-client",
    rule: "A server on standard streams ends soon when its input ends.",
    tests: [
      "transport/stdio-end.test.ts: exits with 0 when nothing runs",
      "transport/stdio-end.test.ts: aborts a handler that goes on, and exits soon with 0 (%s)",
    ],
  },
  {
    id: "field-broken-pipe",
    rule: "A reader of stdout that is gone ends the server, without a crash.",
    tests: ["transport/stdio-end.test.ts: exits at the next answer instead of crashing or living on"],
  },
  {
    id: "field-close-twice",
    rule: "Closing again, or from within what closing calls, does nothing more.",
    tests: [
      "transport/front-drain.test.ts: asked again, it answers the same",
      "transport/serve.test.ts: can be cut short by closing",
    ],
  },
  {
    id: "field-same-id-on-pipe",
    rule: "Of two requests with one id on a pipe the second is refused.",
    tests: ["transport/stdio-messages.test.ts: in flight are refused to a newcomer, and the first completes (%s)"],
  },
  {
    id: "field-unknown-session",
    rule: "An unknown session is 404 before any stream opens, and a missing one 400.",
    tests: [
      "server/sessions.test.ts: is 404 before any stream opens, for %s",
      "server/sessions.test.ts: is 400 when a request that needs one names none",
    ],
  },
  {
    id: "field-response-answered",
    rule: "A response is never answered with an error by its id.",
    tests: ["core/negotiate/inbound.test.ts: a response is never refused by its id (%s, session %s)"],
  },
  {
    id: "field-sessions-kept",
    rule: "Sessions that nobody ends are freed, and their memory comes back.",
    tests: [
      "server/stream/crowd.test.ts: returns when 1,000 sessions with a standby stream, subscriptions and a lost answer are abandoned",
      "server/sessions.test.ts: makes room, and leaves nothing behind that waits",
    ],
  },
  {
    id: "field-replicas",
    rule: "Several nodes serve one session from one store.",
    tests: ["server/sessions.test.ts: carries a session from one node to another"],
  },
  {
    id: "field-shared-server",
    rule: "One server serves any number of clients and transports, and nothing of one reaches another.",
    tests: [
      "server/isolation.test.ts: leaks nothing from one to the other, in either era",
      "server/isolation.test.ts: get their own answers in sessions of their own",
      "server/isolation.test.ts: get their own answers on pipes of their own",
    ],
  },
  {
    id: "field-duplicate-id",
    rule: "An id in flight is refused to the newcomer, and free again once it was answered or cancelled.",
    tests: [
      "server/sessions.test.ts: are taken while they are in flight: the newcomer is refused, the first completes",
      "server/cancellation.test.ts: gives its id back at once",
      "transport/stdio-messages.test.ts: can be used again after completion",
    ],
  },
  {
    id: "field-replay-of-others",
    rule: "What a stream missed goes to the same stream, session and caller alone.",
    tests: [
      "transport/resumability.test.ts: gets nothing of another session's stream, nor of another principal's, and the owner loses nothing",
    ],
  },
  {
    id: "field-get-without-stream",
    rule: "A GET that gets no stream is 405 and says what is allowed.",
    tests: ["server/sessions.test.ts: has nothing for %s", "transport/http-node.test.ts: %s %s is %i"],
  },
  {
    id: "field-accept",
    rule: "Any Accept that allows one of the two forms is served in it, a missing one too.",
    tests: [
      "transport/http-node.test.ts: Accept: %s gives %s and %i messages when a handler reports progress",
      "core/http/media.test.ts: %j allows %s",
    ],
  },
  {
    id: "field-content-type",
    rule: "The media type is read as one, in any case and with parameters.",
    tests: [
      "core/http/media.test.ts: %j is JSON",
      "core/http/media.test.ts: %j is not JSON",
      "transport/http-node.test.ts: a media type that only mentions JSON",
    ],
  },
  {
    id: "field-batch",
    rule: "A batch is refused as one, without an id.",
    tests: [
      "server/initialize.test.ts: a batch is refused as one, without an id",
      "transport/stdio-lines.test.ts: a batch",
    ],
  },
  {
    id: "field-id-zero",
    rule: "Zero and the empty text are ids like any other.",
    tests: [
      "server/cancellation.test.ts: is cancelled by a notification with its id, %s, and nothing is written for it",
      "core/wire/parse.test.ts: id 0",
    ],
  },
  {
    id: "field-id-type",
    rule: "Ids keep their type and are compared with it.",
    tests: [
      "transport/stdio-messages.test.ts: are compared with their type",
      "server/input/push.test.ts: with the id as a text",
    ],
  },
  {
    id: "field-body-limit",
    rule: "One limit holds for bodies, while they are read, and beyond it the answer is 413 in JSON.",
    tests: [
      "transport/http-node.test.ts: a body of unknown length is cut off at the limit",
      "transport/http-node.test.ts: a body of exactly the limit is served",
      "server/fetch.test.ts: is no longer read once it is too long",
    ],
  },
  {
    id: "field-body-parsed-before",
    rule: "A body that a framework has read is taken from it, or missed with words on what to do.",
    tests: [
      "transport/http-node.test.ts: %s is taken from the request",
      "transport/http-node.test.ts: a body that was read and thrown away is a clear error",
      "server/fetch.test.ts: is missed, with 500 and what to do, when it is not passed on",
    ],
  },
  {
    id: "field-quiet-streams",
    rule: "A stream opens with a comment, is kept open by comments, and asks proxies not to hold it.",
    tests: [
      "transport/http-node.test.ts: an event stream begins with a comment, and no proxy may hold it or change it",
      "transport/http-node.test.ts: a quiet stream is kept open by comments",
      "server/listen.test.ts: a quiet stream is kept open by comments",
    ],
  },
  {
    id: "field-cors",
    rule: "A page that is listed can read every answer, refusals too, and its preflight needs no login.",
    tests: [
      "transport/front-cors.test.ts: is read by a listed page",
      "transport/front-cors.test.ts: is answered before anybody has to say who he is",
      "transport/front-cors.test.ts: the id of a new session is read by a listed page",
    ],
  },
  {
    id: "field-guard",
    rule: "On a loopback address Host and Origin are checked by default; elsewhere an Origin must be listed. The refusal names the option.",
    tests: [
      "core/http/guard.test.ts: of %j, %j, %j says what came and which option to set",
      "transport/http-node.test.ts: behind a public bind an Origin must be listed, and the Host when hosts are",
    ],
  },
  {
    id: "field-write-after-end",
    rule: "A client that is gone in the middle of an answer harms nobody.",
    tests: [
      "transport/http-node.test.ts: cancels a modern request, and nothing more is written for it",
      "transport/front-readers.test.ts: a reader that takes nothing of %s loses its connection",
    ],
  },
  {
    id: "field-unread-bodies",
    rule: "A body that is refused is let go, and the connection with it when it is long.",
    tests: [
      "transport/serve.test.ts: go on after a refusal, unless a long body is left",
      "transport/front-body.test.ts: is let go of as soon as it is there, too large, too slow or broken off, and heard of once at most",
    ],
  },
  {
    id: "field-no-eval",
    rule: "Schemas are checked where no code may be generated.",
    tests: ["server/code-generation.test.ts: checks arguments and results all the same"],
  },
  {
    id: "field-globals",
    rule: "No global is changed by importing the package.",
    tests: ["spec/server.test.ts: leaves every global as it was, whatever is imported"],
  },
  {
    id: "field-listener-throws",
    rule: "A listener that throws breaks no request.",
    tests: ["server/events.test.ts: goes on when a listener fails, which is logged"],
  },
  {
    id: "field-never-answered",
    rule: "A handler that never ends is answered for when its time is over.",
    tests: ["server/deadline.test.ts: %s is answered with an error that names the limit of the server"],
  },
  {
    id: "field-202-bare",
    rule: "202 has neither a body nor a type.",
    tests: ["transport/http-node.test.ts: a notification is 202 without a body or a type"],
  },
  {
    id: "field-version-header-missing",
    rule: "A modern request without the version header is refused, and so is one without any version and session.",
    tests: [
      "server/discover.test.ts: without %s is refused",
      "server/discover.test.ts: of no version at all, and of no session, is refused with -32020",
    ],
  },
  {
    id: "field-header-spaces",
    rule: "Spaces and tabs around a header's value do not count.",
    tests: ["server/tools.test.ts: may stand between spaces and tabs, and so may every header"],
  },
  {
    id: "field-names-beyond-ascii",
    rule: "A name beyond ASCII is compared after decoding.",
    tests: ["server/tools.test.ts: have company in Mcp-Name, which may be encoded too"],
  },
  {
    id: "field-listen-for-nothing",
    rule: "A stream that would hear of nothing is acknowledged and over at once.",
    tests: ["server/listen.test.ts: a stream that hears of nothing (%j) is acknowledged and over at once"],
  },
  {
    id: "field-capability-status",
    rule: "A missing capability is 400 as long as nothing was written.",
    tests: [
      "server/input/capability.test.ts: is 400 as long as nothing was written, and an event of the stream after that",
    ],
  },
  {
    id: "field-input-result-kept-apart",
    rule: "A result that asks is never taken for one that is complete, by middleware either.",
    tests: [
      "server/middleware.test.ts: sees the questions of a modern call as its result, which is on its way and stays as it is",
    ],
  },
  {
    id: "field-state-trusted",
    rule: "A state is sealed by default, and one that was changed is refused.",
    tests: ["server/input/state.test.ts: is refused with any byte changed, and the handler is not entered"],
  },
  {
    id: "field-await-in-both-eras",
    rule: "A handler awaits answers in the same words in both eras, and a run that diverges is ended.",
    tests: [
      "server/input/replay.test.ts: ends with -32603 where a question is not the same as before; only the log names it",
      "server/input/once.test.ts: runs once over three rounds, and gives its value in each",
    ],
  },
  {
    id: "field-warnings-once",
    rule: "A definition is checked and warned about once, not with each request.",
    tests: ["server/tools.test.ts: is warned about once, when the tool is added, with who refuses it"],
  },
  {
    id: "field-old-code-in-modern-era",
    rule: "No code of the old range leaves in the modern era, for refusals of the transport neither.",
    tests: ["server/discover.test.ts: never brings a legacy code, whatever goes wrong"],
  },
  {
    id: "field-union-input",
    rule: "A union as input is an object with its branches on the wire.",
    tests: ["server/tools.test.ts: as an object with its branches when its input is a union"],
  },
  {
    id: "field-no-arguments",
    rule: "A tool without arguments has a closed, empty object as input.",
    tests: ["server/tools.test.ts: closed when it takes no arguments"],
  },
  {
    id: "field-one-bad-entry",
    rule: "A definition that cannot be is refused by name and hides no other.",
    tests: [
      "server/tools.test.ts: hides no other tool from a %s client",
      "server/tools.test.ts: %s is refused where it is defined, by name",
    ],
  },
  {
    id: "field-dialects",
    rule: "Schemas of older drafts are listed as they are and checked in their dialect.",
    tests: [
      "server/tools.test.ts: in the dialect that its schema names, references and all",
      "server/tools.test.ts: wrong in an older dialect",
    ],
  },
  {
    id: "field-error-skips-output",
    rule: "A result that is an error is not held to the output schema and has no structured content.",
    tests: ["server/tool-results.test.ts: is not asked for when the result is an error"],
  },
  {
    id: "field-output-missing",
    rule: "An output schema without a structured value is a loud error.",
    tests: ["server/tool-results.test.ts: is only content", "server/tool-results.test.ts: is not there"],
  },
  {
    id: "field-content-always",
    rule: "Every result of a tool has content.",
    tests: ["server/tool-results.test.ts: is the text of a structured value when a result names none"],
  },
  {
    id: "field-structured-roots",
    rule: "Structured content that is no object is raw for modern clients and wrapped for old ones, its schema with it.",
    tests: [
      "server/tool-results.test.ts: may be %s, and is wrapped for old clients",
      "server/tool-results.test.ts: keep their references when the schema moves under result",
    ],
  },
  {
    id: "field-arguments-absent",
    rule: "Absent arguments are an empty object; null is invalid params.",
    tests: [
      "server/tools.test.ts: that are absent are none (%s)",
      "server/tools.test.ts: that are %s are refused as invalid params",
    ],
  },
  {
    id: "field-wrong-arguments",
    rule: "Wrong arguments are a result for the model, an unknown tool is invalid params.",
    tests: ["server/revisions.test.ts: wrong arguments are a result, an unknown tool is an error"],
  },
  {
    id: "field-sides-of-schemas",
    rule: "Callers see the side of a schema that they write, and read the side that they get.",
    tests: [
      "server/tools.test.ts: with the side of its input that callers write: before defaults, transforms and pipes",
      "schema/json-schema.test.ts: are independent: a transform has an input side and no output side",
    ],
  },
  {
    id: "field-schema-library-pinned",
    rule: "No schema library is named in the public types.",
    tests: ["server/tools.test.ts: name no schema library, so that any version of any of them fits"],
  },
  {
    id: "field-unknown-keywords",
    rule: "A keyword that nobody knows is a note.",
    tests: [
      "schema/lint.test.ts: a reference below an unknown keyword",
      "core/feature/form.test.ts: examples and unknown keywords",
    ],
  },
  {
    id: "field-provider-names",
    rule: "A name that providers of models refuse is warned about and served.",
    tests: [
      "server/tools.test.ts: is warned about once, when the tool is added, with who refuses it",
      "server/tools.test.ts: is served all the same",
    ],
  },
  {
    id: "field-too-many-suggestions",
    rule: "More than a hundred suggestions are cut to a hundred.",
    tests: ["server/completion.test.ts: of %d values sends %d, and says whether there are more"],
  },
  {
    id: "field-advertised-is-answered",
    rule: "Who declares resources answers for resources and templates.",
    tests: ["server/resources.test.ts: are both answered for by a server with %s"],
  },
  {
    id: "field-uri-templates",
    rule: "Templates are matched in linear time, with any operator, decoded values and a query in any order.",
    tests: [
      "core/feature/uri-match.test.ts: is bounded for %s",
      "core/feature/uri-match.test.ts: is matched whatever the order of its query",
      "core/feature/uri-match.test.ts: from %s is matched back to its values",
    ],
  },
  {
    id: "field-malformed-uri",
    rule: "A malformed uri is invalid params that name it.",
    tests: ["server/resources.test.ts: is invalid params that name it when it is malformed: %j"],
  },
  {
    id: "field-circular-references",
    rule: "A schema that refers to itself ends, listed and checked.",
    tests: ["server/tools.test.ts: with its recursive schema, once and finite", "schema/lint.test.ts: a circle of two"],
  },
  {
    id: "field-property-named-title",
    rule: "A property that is named like a keyword stays.",
    tests: [
      "server/tools.test.ts: with properties that are named like keywords",
      "server/revisions.test.ts: a property keeps its name, whatever it is",
    ],
  },
  {
    id: "field-deadlines",
    rule: "A call has a deadline, of its tool or of the server, and the message says which.",
    tests: ["server/deadline.test.ts: a tool is answered with isError that names its own limit"],
  },
  {
    id: "field-progress-races-answer",
    rule: "Progress never comes behind the answer, nor in one piece with it.",
    tests: [
      "server/context.test.ts: ends with the answer: a handler that goes on is not heard",
      "transport/stdio-messages.test.ts: is not written together with the progress of its call, which some clients would then drop",
    ],
  },
  {
    id: "field-progress-unasked",
    rule: "There is no progress without a token of the caller.",
    tests: ["server/context.test.ts: is never sent when the token is %s"],
  },
  {
    id: "field-progress-equal",
    rule: "Progress that does not grow is dropped.",
    tests: ["server/context.test.ts: only ever grows: what is equal, smaller or no number is dropped"],
  },
  {
    id: "field-cancel-over-http",
    rule: "A cancellation over HTTP reaches the handler, and its stream is freed.",
    tests: [
      "server/cancellation.test.ts: is cancelled in the modern era when its event stream closes",
      "server/cancellation.test.ts: is cancelled in the legacy era by a notification in its session, and its POST ends as a stream without an answer",
    ],
  },
  {
    id: "field-initialize-cancelled",
    rule: "The handshake is never cancelled.",
    tests: ["server/cancellation.test.ts: is never cancelled"],
  },
  {
    id: "field-signal-listeners",
    rule: "No listener stays on a signal that is shared.",
    tests: [
      "server/fetch.test.ts: does not keep a listener on the request's signal once the answer is there",
      "transport/serve.test.ts: leaves no listener on the signal",
    ],
  },
  {
    id: "field-handlers-after-close",
    rule: "Handlers are aborted when their transport closes.",
    tests: [
      "server/cancellation.test.ts: is cancelled when the server stops: %s",
      "server/cancellation.test.ts: ends with the pipe",
    ],
  },
  {
    id: "field-late-rejection",
    rule: "A handler that fails after its call is over raises nothing.",
    tests: [
      "server/deadline.test.ts: nothing is sent for it any more, whatever the handler still does",
      "server/cancellation.test.ts: may fail after it was cancelled, and nobody hears of it, in %s too",
      "server/input/suspension.test.ts: raises no unhandled rejection, and the run may end without it",
    ],
  },
  {
    id: "field-pages",
    rule: "Pages give every entry once, and a cursor that is made up is refused instead of starting anew.",
    tests: [
      "server/lists.test.ts: give all of %d entries, %d at a time, once and in order",
      "server/lists.test.ts: refuse a cursor that is not theirs: %s",
    ],
  },
  {
    id: "field-login-failures",
    rule: "Who is not recognised gets 401 and a challenge, on every route, and a login that fails itself is 500 without a word.",
    tests: [
      "server/auth.test.ts: is told so with 401 and a challenge, and runs nothing (%s)",
      "server/auth.test.ts: admits nobody: 500 when it %s",
    ],
  },
  {
    id: "field-packages",
    rule: "The package loads by import and require, and its types in every setting.",
    tests: [
      "package/package.test.ts: %s gives the same names by import and by require",
      "package/package.test.ts: TypeScript %s, %s: no error without the types of Node",
    ],
  },
  {
    id: "field-type-cost",
    rule: "Types of a large server cost the compiler little.",
    later: "the budget of instantiations comes with etc/budget.json",
  },
  {
    id: "field-resource-server",
    rule: "Metadata, audiences and scopes of tokens are right.",
    later: AUTH,
  },
  {
    id: "field-oauth-proxy",
    rule: "A proxy for logins hands out nothing of the service behind it.",
    later: AUTH,
  },
  {
    id: "field-token-compare",
    rule: "Secrets are compared in constant time.",
    later: AUTH,
  },
  {
    id: "field-tasks-isolated",
    rule: "A task is its owner's alone.",
    later: TASKS,
  },
  {
    id: "field-task-evicted",
    rule: "A task that runs is not thrown away.",
    later: TASKS,
  },
]
