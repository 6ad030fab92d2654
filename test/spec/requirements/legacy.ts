/** What 2025-11-25 asks of a server where it differs: the handshake, sessions, streams that are resumed, questions as requests. */
import { legacy, type Requirement } from "./requirement.js"

const transports = (anchor: string): string => legacy(`basic/transports#${anchor}`)
const lifecycle = (anchor: string): string => legacy(`basic/lifecycle#${anchor}`)
const elicitation = (anchor: string): string => legacy(`client/elicitation#${anchor}`)

export const legacyEra: readonly Requirement[] = [
  {
    id: "legacy-handshake-first",
    rule: "The handshake comes first: before it only ping is answered.",
    spec: lifecycle("initialization"),
    tests: [
      "server/initialize.test.ts: a pipe answers ping, and tells every other legacy request what is missing",
      "server/sessions.test.ts: is 400 when a request that needs one names none",
    ],
  },
  {
    id: "legacy-handshake-answer",
    rule: "The answer says the version, what the server can do and who it is.",
    spec: lifecycle("initialization"),
    tests: ["server/initialize.test.ts: says the version, what there is, who it is and how to use it"],
  },
  {
    id: "legacy-version-agreed",
    rule: "A version that is served is answered with itself, any other with the newest that is.",
    spec: lifecycle("version-negotiation"),
    tests: [
      "server/initialize.test.ts: %s is answered with %s, over HTTP and on a pipe",
      "spec/protocol-page.test.ts: %j gives %j",
    ],
  },
  {
    id: "legacy-version-kept",
    rule: "From then on the agreed version is spoken.",
    spec: lifecycle("operation"),
    tests: [
      "spec/server.test.ts: speaks the version that was agreed on, whatever the client asked for first",
      "server/revisions.test.ts: structured content is raw or wrapped as its schema is",
      "transport/stdio-messages.test.ts: is refused when it comes twice, and the session goes on in its version",
    ],
  },
  {
    id: "legacy-capabilities-agreed",
    rule: "Nothing is used that was not declared in the handshake.",
    spec: lifecycle("operation"),
    tests: [
      "server/input/capability.test.ts: is asked, or a clear tool error, in the legacy era",
      "server/sessions.test.ts: declares nothing that needs one",
    ],
  },
  {
    id: "legacy-ping",
    rule: "Ping is answered at once with an empty result.",
    spec: legacy("basic/utilities/ping#behavior-requirements"),
    tests: ["spec/server.test.ts: answers ping with an empty result, over HTTP and on a pipe"],
  },
  {
    id: "legacy-endpoint",
    rule: "One path takes POST and GET.",
    spec: transports("streamable-http"),
    tests: ["transport/standby.test.ts: opens at once and stays open", "transport/http-node.test.ts: %s %s is %i"],
  },
  {
    id: "legacy-accepted",
    rule: "Responses and notifications that are accepted are 202 without a body, others an HTTP error without an id.",
    spec: transports("sending-messages-to-the-server"),
    tests: [
      "spec/server.test.ts: accepts notifications and responses with 202 and no body, and refuses them with a status and no id",
    ],
  },
  {
    id: "legacy-answer-form",
    rule: "A request is answered with one JSON object or an event stream.",
    spec: transports("sending-messages-to-the-server"),
    tests: [
      "transport/resumability.test.ts: in JSON has no events",
      "transport/resumability.test.ts: as a stream begins with an id to come back with, and gives every message one",
    ],
  },
  {
    id: "legacy-standby-or-405",
    rule: "A GET gives an event stream, or 405 where there is none.",
    spec: transports("listening-for-messages-from-the-server"),
    tests: ["transport/standby.test.ts: opens at once and stays open", "server/sessions.test.ts: has nothing for %s"],
  },
  {
    id: "legacy-standby-no-answers",
    rule: "A stream that stands by carries no responses, unless it is the rest of a stream that did.",
    spec: transports("listening-for-messages-from-the-server"),
    tests: [
      "transport/standby.test.ts: carries no requests of the server: those stay on the stream of their call",
      "transport/resumability.test.ts: gets the messages of its own stream only, not those of another of the same session",
    ],
  },
  {
    id: "legacy-one-stream",
    rule: "Each message is sent on one stream, and on no other.",
    spec: transports("multiple-connections"),
    tests: [
      "transport/standby.test.ts: gets each message on exactly one of its connections, at most four, the oldest ended",
      "server/input/push.test.ts: each of two calls is asked on its own stream",
    ],
  },
  {
    id: "legacy-event-ids",
    rule: "The id of an event is used once in a session.",
    spec: transports("resumability-and-redelivery"),
    tests: ["spec/server.test.ts: gives every event of a session an id of its own, whichever stream it is on"],
  },
  {
    id: "legacy-replay-own-stream",
    rule: "A stream is replayed to whoever had it, and nothing of another stream with it.",
    spec: transports("resumability-and-redelivery"),
    tests: [
      "transport/resumability.test.ts: gets nothing of another session's stream, nor of another principal's, and the owner loses nothing",
      "transport/resumability.test.ts: gets the messages of its own stream only, not those of another of the same session",
    ],
  },
  {
    id: "legacy-session-id",
    rule: "The id of a session is visible ASCII that cannot be guessed.",
    spec: transports("session-management"),
    tests: [
      "server/sessions.test.ts: begins with initialize, which names it in 128 random bits or more of visible ASCII",
    ],
  },
  {
    id: "legacy-session-gone",
    rule: "A session that is over or never was is 404.",
    spec: transports("session-management"),
    tests: [
      "server/sessions.test.ts: is 404 before any stream opens, for %s",
      "server/sessions.test.ts: ends with DELETE, and what runs in it is aborted",
      "server/sessions.test.ts: is gone after thirty minutes, and not a moment before",
    ],
  },
  {
    id: "legacy-version-header",
    rule: "A version in the header that is not served is 400.",
    spec: transports("protocol-version-header"),
    tests: [
      "server/initialize.test.ts: the version header of a session may be left out, and must be served when it is there",
      "core/negotiate/inbound.test.ts: a request under a legacy header that is not served",
    ],
  },
  {
    id: "legacy-session-is-no-login",
    rule: "A session proves nobody's identity: each request says who calls.",
    spec: transports("session-management"),
    tests: [
      "server/auth.test.ts: is looked at anew with every request: nothing of one reaches another",
      "server/auth.test.ts: is not there for %s, and is untouched",
    ],
  },
  {
    id: "legacy-initialize-not-cancelled",
    rule: "The handshake cannot be cancelled.",
    spec: legacy("basic/utilities/cancellation#behavior-requirements"),
    tests: ["server/cancellation.test.ts: is never cancelled"],
  },
  {
    id: "legacy-disconnect-cancels-nothing",
    rule: "A connection that breaks cancels nothing.",
    spec: transports("sending-messages-to-the-server"),
    tests: [
      "server/cancellation.test.ts: is not cancelled in the legacy era when its connection closes",
      "transport/http-node.test.ts: cancels nothing in the legacy era",
    ],
  },
  {
    id: "legacy-cancel-own",
    rule: "A cancellation counts in the session of its request alone.",
    spec: legacy("basic/utilities/cancellation#behavior-requirements"),
    tests: ["server/cancellation.test.ts: is not cancelled from another session, whatever the id"],
  },
  {
    id: "legacy-page-completed",
    rule: "That a page is finished is told to the client that was sent there, with the id of the question, and to no other.",
    spec: elicitation("completion-notifications-for-url-mode-elicitation"),
    tests: [
      "server/input/url.test.ts: tells the session that was asked, and no other",
      "server/input/completion-notice.test.ts: is told on the standby stream of the session that asked, once, and in no other",
      "server/input/url.test.ts: is sent with the id that its URL was made for",
    ],
  },
  {
    id: "legacy-page-required-error",
    rule: "The error that wants a page first names pages alone; a call that needs one asks for it instead.",
    spec: elicitation("url-elicitation-required-error"),
    tests: [
      "server/input/url.test.ts: is waited for until it is done, and server.elicitationComplete() tells the client",
    ],
  },
  {
    id: "legacy-question-mode",
    rule: "A question is sent in a mode that the client declared, in the shape of its revision.",
    spec: elicitation("capabilities"),
    tests: [
      "server/input/capability.test.ts: is asked, or a clear tool error, in the legacy era",
      "server/input/url.test.ts: is a clear tool error",
      "core/feature/form.test.ts: writes choices with titles as constants, and before 2025-11-25 as names beside the values",
    ],
  },
  {
    id: "legacy-question-not-by-session-alone",
    rule: "What is kept for a question is tied to the user and not to the session alone.",
    spec: elicitation("statefulness"),
    tests: ["server/input/push.test.ts: a response counts in the session that was asked, and for its principal, alone"],
  },
  {
    id: "legacy-resource-not-found",
    rule: "A resource that is not there has the code of its era.",
    spec: legacy("server/resources#error-handling"),
    tests: ["server/revisions.test.ts: a resource that is not there has the code of the revision"],
  },
  {
    id: "legacy-log-level",
    rule: "A session hears from the level on that it set, and a level that is none is invalid params.",
    spec: legacy("server/utilities/logging#setting-log-level"),
    tests: [
      "server/context.test.ts: keeps the level of its session, and of no other",
      "server/context.test.ts: refuses the level %j",
    ],
  },
  {
    id: "legacy-tasks",
    rule: "Calls that become tasks, their states, results and cancellation.",
    spec: legacy("basic/utilities/tasks"),
    later: "tasks are built with the extension; until then `task` is ignored and nothing is declared",
  },
]
