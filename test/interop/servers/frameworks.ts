/** Servers written for this suite with what others make servers with: all of them have the same, as far as they can. */
import { isDeepStrictEqual } from "node:util"
import type { Abilities, Column, Found, Has } from "./column.js"

const OLDER: Found = { era: "legacy", version: "2025-11-25" }
const MODERN: Found = { era: "modern", version: "2026-07-28" }

const EVERY_LIST = "the server has every list"
const NO_SESSION = "there are sessions over HTTP in the legacy era alone"
const NO_HTTP = "pipes have no HTTP"
const LOYAL =
  "the tools of both versions of the official SDK show it, where there are streams, sessions or a process to lose"
const NO_PAGES = "the library sends every list whole"
const ONE_ANSWER = "the server answers each request alone, with JSON: nothing else comes or is asked on the way"
const PER_REQUEST = "the server serves the legacy era request by request, where it cannot ask"
const NO_LISTENER = "2026-07-28 tells changes only to those who listen"
const NO_CHANGE = "nothing changes on this server"
const NO_ROOT_CHANGES = "the server asks for roots when it needs them, and keeps none"
const NO_ELICITATION_ID = "2025-06-18 has forms only"
const NO_SUCH_ERROR = "the library has no error that names pages"
const ROUNDS = "2026-07-28 asks in rounds: no error names pages"

/** What all of them have, when nothing is in the way. */
const common: Abilities = {
  tools: ["echo", "add", "fail", "count", "chat", "wait", "witness", "ask", "visit", "think", "roots", "ask_twice"],
  resources: ["note://milk", "note://dot"],
  templates: ["people://{name}"],
  prompts: ["greet"],
  pages: NO_PAGES,
  absent: EVERY_LIST,
  text: { tool: "echo", args: { text: "Grüße!" }, text: "Grüße!" },
  echo: { tool: "echo", argument: "text", before: "" },
  structured: { tool: "add", args: { a: 1, b: 2 }, value: { sum: 3 } },
  failing: { tool: "fail", text: "it did not work" },
  invalid: { tool: "echo", args: { text: 7 }, no: { isError: true } },
  unknownTool: { code: -32602 },
  progress: { tool: "count", args: { to: 3 }, steps: 3 },
  log: {
    tool: "chat",
    isLine: (line) => isDeepStrictEqual(line, { level: "warning", logger: "chat", data: { said: "loud" } }),
    quiet: "debug",
  },
  change: NO_CHANGE,
  unasked: NO_CHANGE,
  textResource: { uri: "note://milk", mimeType: "text/plain", text: "Remember the milk 🥛." },
  blobResource: { uri: "note://dot", mimeType: "application/octet-stream", blob: "AAEC/w==" },
  templateResource: { uri: "people://Ada", text: "Ada was here." },
  unknownResource: { uri: "note://nothing", code: -32602 },
  prompt: { name: "greet", args: { name: "Ada" }, text: "Say hello to Ada." },
  unknownPrompt: { code: -32602 },
  invalidPrompt: { name: "greet", code: -32602 },
  promptCompletion: { ref: { type: "ref/prompt", name: "greet" }, name: "name", value: "A", values: ["Ada", "Alan"] },
  templateCompletion: {
    ref: { type: "ref/resource", uri: "people://{name}" },
    name: "name",
    value: "G",
    values: ["Grace"],
  },
  form: {
    tool: "ask",
    message: "Who is there?",
    content: { name: "Ada" },
    told: ['"action":"accept"', '"content":{"name":"Ada","loud":true}'],
  },
  page: {
    tool: "visit",
    url: "https://example.com/sign-in?state=1",
    completes: false,
    told: '"action":"accept"',
  },
  locked: NO_SUCH_ERROR,
  rounds: { tool: "ask_twice", messages: ["Who is there?", "And who else?"], text: "Ada and Grace" },
  sampling: { tool: "think", asked: /^Think!$/, maxTokens: 7 },
  roots: { tool: "roots" },
  changedRoots: NO_ROOT_CHANGES,
  undeclared: { tool: "ask", no: { isError: true } },
  endless: { tool: "wait", args: { key: "for ever" } },
  witness: { tool: "witness" },
  leave: LOYAL,
  forget: LOYAL,
  die: LOYAL,
  usable: true,
  session: NO_SESSION,
  fetch: true,
}

/** The official SDK, version 1. It makes a result of everything that is wrong with a tool call. */
const sdk1: Abilities = {
  ...common,
  tools: [...common.tools, "change", "enter", "unlock"],
  pages: { method: "resources/list", size: 1 },
  unknownTool: { isError: true },
  change: { tool: "change", change: { list: "tools" } },
  unasked: true,
  page: { tool: "visit", url: "https://example.com/sign-in?state=1", completes: true, told: '"action":"accept"' },
  locked: {
    tool: "enter",
    args: { key: "door" },
    opener: { tool: "unlock", args: { key: "door" } },
    url: "https://example.com/sign-in?state=1",
    text: "inside",
  },
}

/** What is lost with a session. */
const withSession: Pick<Abilities, "leave" | "forget" | "session"> = {
  leave: { tool: "leave", text: "back again" },
  forget: { tool: "forget" },
  session: { late: 404 },
}

/** What is lost with a process. */
const withProcess: Pick<Abilities, "die"> = { die: { tool: "die" } }

/** Without a session the server cannot know which level its client wants. */
const unfiltered: Abilities["log"] = {
  tool: "chat",
  isLine: ({ level, data }) => level === "warning" && isDeepStrictEqual(data, { said: "loud" }),
  quiet: undefined,
}

/** The official SDK, version 2. */
const sdk2: Abilities = {
  ...common,
  tools: [...common.tools, "change"],
  pages: { method: "resources/list", size: 1 },
  change: { tool: "change", change: { list: "tools" } },
  unasked: true,
  locked: "the questions of this server are rounds, which the SDK asks one by one in the legacy era",
}

const sdk2Modern: Abilities = {
  ...sdk2,
  unasked: NO_LISTENER,
  locked: ROUNDS,
  undeclared: { tool: "ask", no: { code: -32021 } },
}

/** fastmcp has codes of its own for what is unknown. */
const fastmcp: Abilities = {
  ...common,
  tools: [...common.tools.filter((name) => name !== "ask_twice"), "change"],
  invalid: { tool: "echo", args: { text: 7 }, no: { code: -32602 } },
  unknownTool: { code: -32601 },
  log: {
    tool: "chat",
    isLine: ({ level, data }) => {
      return level === "warning" && isDeepStrictEqual(data, { message: "loud", context: { said: "loud" } })
    },
    quiet: undefined,
  },
  change: { tool: "change", change: { uri: "note://milk" } },
  unasked: true,
  unknownResource: { uri: "note://nothing", code: -32601 },
  unknownPrompt: { code: -32601 },
  invalidPrompt: { name: "greet", code: -32600 },
  rounds: "the library asks as version 1 of the SDK does, which is on the same pages of the table",
  changedRoots: { tool: "roots" },
}

/** tmcp makes a result of what is wrong with a tool call, and sends lists in pages of three and one. */
const tmcp: Abilities = {
  ...common,
  tools: [...common.tools, "change"],
  pages: { method: "tools/list", size: 3 },
  unknownTool: { isError: true },
  change: { tool: "change", change: { list: "tools" } },
  unasked: true,
  undeclared: { tool: "ask", no: { code: -32601 } },
}

const tmcpModern: Abilities = {
  ...tmcp,
  unasked: NO_LISTENER,
  locked: ROUNDS,
  undeclared: { tool: "ask", no: { code: -32021 } },
  roots: "tmcp does not ask for roots in the modern era",
}

const tmcpLegacy: Abilities = { ...tmcp, page: NO_ELICITATION_ID }

const DEAF = "the transport gives its handlers no signal: nothing shows what the server heard"

/** mcp-lite has no completions, logs, URLs or roots. */
const mcpLite: Abilities = {
  ...common,
  tools: ["echo", "add", "fail", "count", "wait", "ask", "think"],
  invalid: { tool: "echo", args: { text: 7 }, no: { code: -32602 } },
  unknownTool: { code: -32601 },
  log: "the library sends no logs",
  unknownResource: { uri: "note://nothing", code: -32601 },
  promptCompletion: "the library has no completions",
  templateCompletion: "the library has no completions",
  page: "the library asks for forms only",
  rounds: "the library asks one question as well as two",
  roots: "the library does not ask for roots",
  changedRoots: "the library does not ask for roots",
  undeclared: { tool: "ask", no: { code: -32601 } },
  witness: DEAF,
  session: { late: undefined },
}

interface Parts extends Pick<Column, "auto" | "again" | "legacy" | "modern" | "speaks"> {
  readonly peer: string
  readonly mode: string
  /** How the table calls the transport, when it is not the mode. */
  readonly transport?: string
  readonly path?: string
  readonly has: Abilities
  readonly protocol?: string
  readonly instructions?: RegExp | undefined
}

function column({ peer, mode, transport = mode, path, has, protocol = "auto", ...facts }: Parts): Column {
  const { speaks, instructions = /^Greet before you ask\.$/ } = facts
  return {
    name: `${peer} over ${transport}, ${speaks.version}`,
    heads: [transport, peer, speaks.version],
    place: { script: `${peer}.js`, args: [mode], path: mode === "stdio" ? undefined : (path ?? "/mcp") },
    server: { name: peer, version: "1.0.0" },
    instructions: "instructions" in facts ? facts.instructions : instructions,
    protocol,
    speaks,
    auto: facts.auto,
    again: facts.again,
    legacy: facts.legacy,
    modern: facts.modern,
    has: mode === "stdio" ? { ...has, session: NO_HTTP, fetch: NO_HTTP } : has,
  }
}

/** Servers that speak nothing newer than the legacy era. */
const legacyOnly = {
  speaks: OLDER,
  auto: { ...OLDER, reason: "fell_back" },
  again: "prior",
  legacy: "2025-11-25",
  modern: false,
} as const

/** The same on the deprecated transport, which is found anew by each client. */
const deprecated = { ...legacyOnly, again: "fell_back" } as const

/** Servers of both eras, spoken to in the modern one. */
const modern = {
  speaks: MODERN,
  auto: { ...MODERN, reason: "discovered" },
  again: "prior",
  legacy: "2025-11-25",
  modern: true,
} as const

/** The same, spoken to in the legacy one. */
const asLegacy = { ...modern, speaks: OLDER, protocol: "legacy" } as const

const lacking = (has: Abilities, names: readonly (keyof Abilities)[], reason: string): Abilities => ({
  ...has,
  ...Object.fromEntries(names.map((name): [string, Has<never>] => [name, reason])),
})

const questions = ["form", "page", "locked", "rounds", "sampling", "roots"] as const

const sdk1Columns: readonly Column[] = [
  column({ peer: "sdk1", mode: "http", ...legacyOnly, has: { ...sdk1, ...withSession } }),
  column({
    peer: "sdk1",
    mode: "json",
    ...legacyOnly,
    has: lacking(
      { ...sdk1, session: "this server has no sessions" },
      [...questions, "progress", "log", "change", "unasked", "endless"],
      ONE_ANSWER,
    ),
  }),
  column({ peer: "sdk1", mode: "sse", path: "/sse", ...deprecated, has: sdk1 }),
  column({ peer: "sdk1", mode: "stdio", ...legacyOnly, has: { ...sdk1, ...withProcess } }),
]

const sdk2Columns: readonly Column[] = [
  column({ peer: "sdk2", mode: "http", ...modern, has: sdk2Modern }),
  column({
    peer: "sdk2",
    mode: "http",
    ...asLegacy,
    has: lacking({ ...sdk2, log: unfiltered }, [...questions, "change", "unasked"], PER_REQUEST),
  }),
  column({ peer: "sdk2", mode: "sessions", ...legacyOnly, has: { ...sdk2, ...withSession } }),
  column({ peer: "sdk2", mode: "stdio", ...modern, has: { ...sdk2Modern, ...withProcess } }),
  column({ peer: "sdk2", mode: "stdio", ...asLegacy, has: { ...sdk2, ...withProcess } }),
]

const TOO_EARLY = "over HTTP the library looks for the client's capabilities before it has read them, and does not ask"
const NAMELESS = "over this transport the library does not tell a tool whose session it was called in"

const fastmcpColumns: readonly Column[] = [
  column({
    peer: "fastmcp",
    mode: "http",
    ...legacyOnly,
    has: { ...fastmcp, roots: TOO_EARLY, session: { late: 404 } },
  }),
  column({
    peer: "fastmcp",
    mode: "http",
    transport: "sse",
    path: "/sse",
    ...deprecated,
    has: lacking(fastmcp, ["sampling", "roots", "changedRoots", "change", "unasked"], NAMELESS),
  }),
  column({ peer: "fastmcp", mode: "stdio", ...legacyOnly, has: fastmcp }),
]

const SIX: Found = { era: "legacy", version: "2025-06-18" }
const tmcpOlder = { ...asLegacy, speaks: SIX, legacy: "2025-06-18" }
const SERIAL = "the transport answers one request after the other: one that goes on keeps all others from it"

const tmcpColumns: readonly Column[] = [
  column({ peer: "tmcp", mode: "http", ...modern, legacy: "2025-06-18", has: tmcpModern }),
  column({ peer: "tmcp", mode: "http", ...tmcpOlder, has: { ...tmcpLegacy, session: { late: undefined } } }),
  column({
    peer: "tmcp",
    mode: "stdio",
    ...modern,
    legacy: "2025-06-18",
    has: { ...tmcpModern, witness: DEAF },
  }),
  column({ peer: "tmcp", mode: "stdio", ...tmcpOlder, has: { ...tmcpLegacy, witness: DEAF, usable: SERIAL } }),
]

/** Asked for 2025-11-25, mcp-lite answers with the oldest that it has. */
const liteAuto = { era: "legacy", version: "2025-03-26", reason: "fell_back" } as const
const lite = {
  auto: liteAuto,
  again: "prior",
  legacy: "2025-03-26",
  modern: false,
  instructions: undefined,
} as const

const mcpLiteColumns: readonly Column[] = [
  column({ peer: "mcp-lite", mode: "http", ...lite, speaks: { era: "legacy", version: "2025-03-26" }, has: mcpLite }),
  column({ peer: "mcp-lite", mode: "http", ...lite, speaks: SIX, protocol: "2025-06-18", has: mcpLite }),
]

/** All of them. */
export const frameworks: readonly Column[] = [
  ...sdk1Columns,
  ...sdk2Columns,
  ...fastmcpColumns,
  ...tmcpColumns,
  ...mcpLiteColumns,
]
