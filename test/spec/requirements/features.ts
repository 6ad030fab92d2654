/** What 2026-07-28 asks of a server's features: tools, resources, prompts, completion, and what lists have in common. */
import { modern, type Requirement } from "./requirement.js"

const RATE = "the limiter of calls over time comes with authorization; until then calls at once are capped"

export const features: readonly Requirement[] = [
  {
    id: "declared-is-served",
    rule: "Tools, resources, prompts, completions and logging are declared when they are there, and what is declared is served.",
    spec: modern("server/tools#capabilities"),
    tests: [
      "server/lists.test.ts: with %s",
      "server/discover.test.ts: says only what there is",
      "server/resources.test.ts: are both answered for by a server with %s",
      "server/completion.test.ts: is no method of a server that completes nothing",
    ],
  },
  {
    id: "lists-by-caller",
    rule: "A list may differ by who calls, never by connection or by what was asked before.",
    spec: modern("server/tools#capabilities"),
    tests: [
      "spec/server.test.ts: is the same on every connection, before and after other requests: %s",
      "server/view.test.ts: gets in %s what it can see",
      "server/lists.test.ts: are the same for everybody who asks at the same time",
    ],
  },
  {
    id: "tool-input-schema",
    rule: "The input schema of a tool is an object, a closed one where there are no arguments.",
    spec: modern("server/tools#tool"),
    tests: [
      "server/tools.test.ts: closed when it takes no arguments",
      "schema/json-schema.test.ts: is refused as input when it takes no object, and may be any output",
    ],
  },
  {
    id: "tool-header-name",
    rule: "The name of a header that repeats an argument is a token, not empty, without control characters, and unique in any case.",
    spec: modern("server/tools#x-mcp-header"),
    tests: [
      "core/http/param.test.ts: refuses a name that is %s",
      "core/http/param.test.ts: refuses a second use of a name in %s",
      "server/tools.test.ts: whose header annotation is no token",
    ],
  },
  {
    id: "tool-header-place",
    rule: "Only texts, integers and truth values may be repeated, and only where each call has one place for them.",
    spec: modern("server/tools#x-mcp-header"),
    tests: [
      "core/http/param.test.ts: refuses an annotation on %s",
      "core/http/param.test.ts: refuses an annotation %s",
      "core/http/param.test.ts: an integer beyond the safe range",
    ],
  },
  {
    id: "tool-output-conforms",
    rule: "Structured content fits the output schema of its tool, or the call is an error.",
    spec: modern("server/tools#output-schema"),
    tests: [
      "server/tool-results.test.ts: is an error result, loud in the log, when it %s",
      "server/tool-results.test.ts: agree in the modern era, as they are: %s",
      "server/tool-results.test.ts: is checked by an asynchronous schema too",
    ],
  },
  {
    id: "binary-base64",
    rule: "Images, sounds and blobs are base64 with a media type.",
    spec: modern("server/prompts#image-content"),
    tests: [
      "server/tool-results.test.ts: is an error result and a log line, since clients refuse what holds it: %j",
      "server/tool-results.test.ts: is a result by itself, block by block",
      "server/resources.test.ts: a blob that is no base64",
    ],
  },
  {
    id: "embedded-resource",
    rule: "An embedded resource has a uri and a text or a blob.",
    spec: modern("server/prompts#embedded-resources"),
    tests: ["server/tool-results.test.ts: is a result by itself, block by block"],
  },
  {
    id: "tool-inputs-validated",
    rule: "Arguments are checked by the tool's schema before the tool is entered.",
    spec: modern("server/tools#security-considerations"),
    tests: [
      "server/tools.test.ts: that are %s are a result that the model can read",
      "server/tools.test.ts: that are %s are refused as invalid params",
    ],
  },
  {
    id: "tool-access",
    rule: "Who may not see a tool, resource or prompt is answered as if there were none.",
    spec: modern("server/tools#security-considerations"),
    tests: [
      "server/view.test.ts: is answered by %s as if what it cannot see were not there",
      "server/view.test.ts: is refused in the round in which its caller can no longer see the tool",
    ],
  },
  {
    id: "tool-rate-limit",
    rule: "Calls are limited over time.",
    spec: modern("server/tools#security-considerations"),
    later: RATE,
  },
  {
    id: "tool-outputs-clean",
    rule: "What a tool gives is JSON and nothing of an exception, and no text in it becomes anything but a text.",
    spec: modern("server/tools#security-considerations"),
    tests: [
      "server/tool-results.test.ts: is a result with a reference and no detail when it is %s",
      "server/tool-results.test.ts: is an error result and a log line that names the tool: %s",
      "fuzz/corpus.ts: odd texts",
    ],
  },
  {
    id: "tool-annotations-untrusted",
    rule: "Annotations of a tool bind nobody; a server does not act on them.",
    spec: modern("server/tools#tool"),
    author: "annotations are sent as they are given, and nothing on the server reads them",
  },
  {
    id: "resource-uri-form",
    rule: "A resource's uri is a URI with a scheme.",
    spec: modern("server/resources#custom-uri-schemes"),
    tests: [
      "server/resources.test.ts: %s is refused where it is defined",
      "server/resources.test.ts: without a scheme",
    ],
  },
  {
    id: "resource-not-found",
    rule: "A resource that is not there is -32602 with its uri.",
    spec: modern("server/resources#error-handling"),
    tests: [
      "server/resources.test.ts: is not found: %s",
      "server/resources.test.ts: is not there when the reader says so",
    ],
  },
  {
    id: "resource-never-empty",
    rule: "No contents at all is never the answer for a resource that is not there.",
    spec: modern("server/resources#error-handling"),
    tests: [
      "server/resources.test.ts: no contents at all",
      "server/resources.test.ts: is not there when the reader says so",
    ],
  },
  {
    id: "resource-uri-validated",
    rule: "A uri that is read is checked, and a malformed one is invalid params.",
    spec: modern("server/resources#security-considerations"),
    tests: [
      "server/resources.test.ts: is invalid params that name it when it is malformed: %j",
      "core/feature/uri-match.test.ts: is refused for %s",
    ],
  },
  {
    id: "resource-binary",
    rule: "Binary contents are encoded.",
    spec: modern("server/resources#security-considerations"),
    tests: [
      "server/resources.test.ts: bytes",
      "server/resources.test.ts: may be several contents, each with a uri and a type of its own",
    ],
  },
  {
    id: "resource-traversal",
    rule: "A path in a uri cannot leave what it stands under, however it is spelled.",
    spec: modern("server/resources#security-considerations"),
    tests: [
      "core/feature/uri-match.test.ts: is seen in what %j decodes to",
      "core/feature/uri-match.test.ts: is seen in %j",
      "fuzz/corpus.ts: uris that are long, odd or lead elsewhere",
    ],
  },
  {
    id: "prompt-validated",
    rule: "Arguments of a prompt and what it says are checked.",
    spec: modern("server/prompts#security"),
    tests: [
      "server/prompts.test.ts: are invalid params when they are %s",
      "server/prompts.test.ts: is an internal error when it is %s",
    ],
  },
  {
    id: "completion-validated",
    rule: "Requests for completion are checked.",
    spec: modern("server/utilities/completion#security"),
    tests: ["server/completion.test.ts: refuses %s as invalid params"],
  },
  {
    id: "completion-access",
    rule: "What a caller cannot see is not completed, and nothing of it is told.",
    spec: modern("server/utilities/completion#security"),
    tests: ["server/view.test.ts: is answered by %s as if what it cannot see were not there"],
  },
  {
    id: "completion-rate-limit",
    rule: "Requests for completion are limited over time.",
    spec: modern("server/utilities/completion#security"),
    later: RATE,
  },
  {
    id: "completion-hundred",
    rule: "There are at most a hundred suggestions, with a word on whether there are more.",
    spec: modern("server/utilities/completion#completion-results"),
    tests: ["server/completion.test.ts: of %d values sends %d, and says whether there are more"],
  },
  {
    id: "log-declared",
    rule: "A server that logs to clients declares it, and one that does not declare it logs nothing to them.",
    spec: modern("server/utilities/logging#capabilities"),
    tests: ["server/context.test.ts: is nothing when the server does not log, which then declares no logging"],
  },
  {
    id: "log-asked-for",
    rule: "A log line is sent for a request that asks for its level, and for no other.",
    spec: modern("server/utilities/logging#per-request-log-level"),
    tests: [
      "server/context.test.ts: is asked for request by request",
      "server/context.test.ts: reaches a client that asked for %s",
    ],
  },
  {
    id: "log-on-own-stream",
    rule: "A log line stands on the stream of its request alone.",
    spec: modern("server/utilities/logging#per-request-log-level"),
    tests: [
      "spec/server.test.ts: says nothing of one request on the stream of another: no log and no progress on a listen stream",
    ],
  },
  {
    id: "log-no-secrets",
    rule: "Log lines for clients hold no credentials and nothing personal.",
    spec: modern("server/utilities/logging#security"),
    author: "the library itself logs nothing to clients, and tells watchers nothing of what requests carry",
  },
  {
    id: "cursor-opaque",
    rule: "A cursor that is not of the list is invalid params, the empty text too.",
    spec: modern("server/utilities/pagination#error-handling"),
    tests: [
      "server/lists.test.ts: refuse a cursor that is not theirs: %s",
      "server/lists.test.ts: an empty one",
      "core/feature/cursor.test.ts: whose text was changed anywhere is not the same cursor",
    ],
  },
  {
    id: "cache-hints",
    rule: "Lists, discovery and what is read say how long they may be kept and by whom; a result that asks says nothing.",
    spec: modern("server/utilities/caching#cacheable-results"),
    tests: [
      "server/lists.test.ts: is said with $method in the modern era only",
      "server/resources.test.ts: is as the resource says, in the modern era",
      "server/input/place.test.ts: gives no hints on caching before its end, and none to keep anything after it",
    ],
  },
  {
    id: "cache-time",
    rule: "The time to live is never negative.",
    spec: modern("server/utilities/caching#time-to-live-ttl-field"),
    tests: [
      "server/builder.test.ts: with a freshness that is negative",
      "core/feature/freshness.test.ts: %j are refused, and %s is named",
    ],
  },
  {
    id: "cache-scope-of-pages",
    rule: "All pages of a list have one scope.",
    spec: modern("server/utilities/caching#interaction-with-pagination"),
    tests: ["spec/server.test.ts: has one cache scope on all its pages: %s"],
  },
  {
    id: "cache-is-no-access",
    rule: "What may be kept by everybody is decided apart from who may see it: a view of a caller is always private.",
    spec: modern("server/utilities/caching#security-considerations"),
    tests: ["server/view.test.ts: is for its caller alone: %s"],
  },
  {
    id: "cache-not-after-rounds",
    rule: "What came of a client's answers is not to be kept.",
    spec: modern("server/utilities/caching#cache-key"),
    tests: ["server/input/place.test.ts: may be kept as it says, unless it was read with answers"],
  },
]
