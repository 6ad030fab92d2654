/** What 2026-07-28 asks of a server in the patterns of messages: cancellation, rounds of input, progress, subscriptions. */
import { modern, type Requirement } from "./requirement.js"

const mrtr = (anchor: string): string => modern(`basic/patterns/mrtr#${anchor}`)
const rounds = mrtr("server-requirements-basic-workflow")
const listen = (anchor: string): string => modern(`basic/patterns/subscriptions#${anchor}`)

export const patterns: readonly Requirement[] = [
  {
    id: "server-cancels-listen-alone",
    rule: "A server sends a cancellation for a listen stream that it ends, and for nothing else.",
    spec: modern("basic/patterns/cancellation"),
    tests: [
      "server/listen.test.ts: a stream that the server ends gets its result, then a cancellation, both with its id (%j)",
      "server/listen.test.ts: a stream that is cut gets a cancellation alone",
      "fuzz/stdio.test.ts: whatever is written to the input of a process is answered by the rules, and leaves nothing behind",
    ],
  },
  {
    id: "disconnect-cancels",
    rule: "A client that is gone has cancelled its request.",
    spec: modern("basic/patterns/cancellation#transport-specific-cancellation"),
    tests: [
      "server/cancellation.test.ts: is cancelled in the modern era when its connection closes, before anything was sent",
      "server/fetch.test.ts: aborts the signal when the request is aborted before anything was answered",
    ],
  },
  {
    id: "cancellation-races",
    rule: "A cancellation that comes too late, twice or for nothing does no harm.",
    spec: modern("basic/patterns/cancellation#timing-considerations"),
    tests: [
      "server/cancellation.test.ts: is not cancelled once it was answered",
      "server/cancellation.test.ts: goes on after a cancellation %s, which is not answered",
      "server/cancellation.test.ts: answers every call once, unless it was cancelled, and refuses an id only while it is taken",
    ],
  },
  {
    id: "input-by-result",
    rule: "What a server wants of its client it asks for in the result of a call.",
    spec: mrtr("multi-round-trip-requests"),
    tests: [
      "server/input/replay.test.ts: is the answer of the call, of type input_required, with a state",
      "spec/server.test.ts: sends no request, and asks by its result alone: in memory, over HTTP and on standard streams",
    ],
  },
  {
    id: "input-where-it-may-be",
    rule: "Tools, prompts and resources ask, and no other method does.",
    spec: mrtr("supported-requests"),
    tests: [
      "server/input/replay.test.ts: has no place in a method that may not ask",
      "server/input/place.test.ts: asks in rounds, runs steps once, and frees at its end",
    ],
  },
  {
    id: "input-keys-unique",
    rule: "The keys of questions differ within a call.",
    spec: rounds,
    tests: ["server/input/key.test.ts: are never the same twice, when somebody chooses %s"],
  },
  {
    id: "input-kinds",
    rule: "A question is one of three: a form or page, a completion, the roots.",
    spec: rounds,
    tests: [
      "server/input/by-hand.test.ts: fails on %s, and nothing is sent",
      "spec/server.test.ts: what is asked by hand is one of three questions: %s",
    ],
  },
  {
    id: "state-untrusted",
    rule: "A state is taken for a stranger's word: sealed, and refused when it does not open.",
    spec: rounds,
    tests: [
      "server/input/state.test.ts: is refused with any byte changed, and the handler is not entered",
      "server/input/state.test.ts: is refused when it is %s, always in the same words",
      "server/input/seal.test.ts: is not opened when any byte of it has changed",
    ],
  },
  {
    id: "state-bound",
    rule: "A state counts for its caller, its method and arguments, and for a while.",
    spec: rounds,
    tests: [
      "server/input/state.test.ts: is refused for anybody else, the same name elsewhere included",
      "server/input/state.test.ts: of a call is refused for %s",
      "server/input/state.test.ts: expires, counted from its round",
    ],
  },
  {
    id: "state-once",
    rule: "Where a state may count once only, the server sees to that.",
    spec: rounds,
    tests: [
      "server/input/single-use.test.ts: refuses other answers, and the handler is not entered",
      "server/input/single-use.test.ts: does so over nodes with one store",
    ],
  },
  {
    id: "input-something",
    rule: "A result that asks has a question or a state.",
    spec: rounds,
    tests: ["server/input/by-hand.test.ts: needs something to ask or to keep"],
  },
  {
    id: "input-declared",
    rule: "Nothing is asked that the client did not say it can answer.",
    spec: rounds,
    tests: ["server/input/capability.test.ts: is asked, or refused with -32021 that names the leaf, in the modern era"],
  },
  {
    id: "input-unanswered",
    rule: "A client may never come back, or come back without answers: nothing waits for it and it is asked again.",
    spec: rounds,
    tests: [
      "server/input/replay.test.ts: asks again, and runs nothing twice, when it holds no answers at all",
      "server/input/replay.test.ts: is asked again under the same key where it is missing, with a state that holds the rest",
      "server/input/once.test.ts: stands in the store until the state of the call expires, and no longer",
    ],
  },
  {
    id: "progress-token-kind",
    rule: "A token for progress is a text or an integer.",
    spec: modern("basic/patterns/progress#progress-flow"),
    tests: [
      "core/feature/progress.test.ts: may not be %j",
      "server/context.test.ts: is never sent when the token is %s",
    ],
  },
  {
    id: "progress-grows",
    rule: "Each value of progress is larger than the one before.",
    spec: modern("basic/patterns/progress#progress-flow"),
    tests: [
      "server/context.test.ts: only ever grows: what is equal, smaller or no number is dropped",
      "core/feature/progress.test.ts: that is let through grows with each value",
    ],
  },
  {
    id: "progress-token-of-caller",
    rule: "Progress is sent with the token of a request that is being worked on, and without one not at all.",
    spec: modern("basic/patterns/progress#behavior-requirements"),
    tests: ["server/context.test.ts: is sent with the caller's token, in its type, when that is %s"],
  },
  {
    id: "progress-ends",
    rule: "After the answer there is no more progress.",
    spec: modern("basic/patterns/progress#implementation-notes"),
    tests: ["server/context.test.ts: ends with the answer: a handler that goes on is not heard"],
  },
  {
    id: "listen-only-asked",
    rule: "A stream carries the kinds of change that it asked for, and no other.",
    spec: listen("opening-a-stream"),
    tests: [
      "server/listen.test.ts: a stream hears nothing that it did not ask for",
      "core/feature/listen.test.ts: is %s",
    ],
  },
  {
    id: "listen-acknowledged",
    rule: "The first message of a stream acknowledges it, with what is honoured.",
    spec: listen("acknowledgment"),
    tests: [
      "server/listen.test.ts: a stream is acknowledged first, and everything on it carries its id (%j)",
      "server/listen.test.ts: %s is honoured",
    ],
  },
  {
    id: "listen-id",
    rule: "Everything on a stream carries the id of the request that opened it.",
    spec: listen("receiving-notifications"),
    tests: [
      "server/listen.test.ts: a stream is acknowledged first, and everything on it carries its id (%j)",
      "server/listen.test.ts: several streams are told apart by their ids, and each is told",
    ],
  },
  {
    id: "listen-graceful-end",
    rule: "A stream that the server ends gets its result before it closes.",
    spec: listen("graceful-closure"),
    tests: [
      "server/listen.test.ts: a stream that the server ends closes behind its result",
      "transport/front-drain.test.ts: streams of changes end with their result",
      "transport/stdio-listen.test.ts: ends with its result, then a cancellation, when the server stops by %s()",
    ],
  },
]
