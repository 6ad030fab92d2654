/** Servers that people install and use: everything, filesystem and memory, as they are published. */
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Abilities, Column } from "./column.js"

const packages = "node_modules/@modelcontextprotocol"

/** A folder for what the servers read and write; the test removes it. */
export const scratch = mkdtempSync(join(realpathSync(tmpdir()), "interop-"))
const note = join(scratch, "note.txt")
writeFileSync(note, "Remember the milk 🥛.")

const SPOKEN = { era: "legacy", version: "2025-11-25" } as const
const legacyOnly = {
  speaks: SPOKEN,
  auto: { ...SPOKEN, reason: "fell_back" },
  again: "prior",
  legacy: "2025-11-25",
  modern: false,
} as const

const dynamic = "demo://resource/dynamic"
const LOYAL = "no tool of the server lets go of its client"
const UNSEEN = "nothing of this server shows what it heard"

const everything: Abilities = {
  tools: [
    "echo",
    "get-annotated-message",
    "get-resource-links",
    "get-resource-reference",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "trigger-long-running-operation",
    "get-roots-list",
    "trigger-elicitation-request",
    "trigger-url-elicitation",
    "trigger-sampling-request",
  ],
  resources: ["architecture", "features", "structure"].map((name) => `demo://resource/static/document/${name}.md`),
  templates: [`${dynamic}/text/{resourceId}`, `${dynamic}/blob/{resourceId}`],
  prompts: ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"],
  pages: "the server sends every list whole",
  absent: "the server has every list",
  text: { tool: "get-sum", args: { a: 1, b: 2 }, text: "The sum of 1 and 2 is 3." },
  echo: { tool: "echo", argument: "message", before: "Echo: " },
  structured: {
    tool: "get-structured-content",
    args: { location: "Chicago" },
    value: { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 },
  },
  failing: {
    tool: "gzip-file-as-resource",
    args: { name: "a.gz", data: "ftp://127.0.0.1/a", outputType: "resource" },
    text: "Unsupported URL protocol",
  },
  invalid: { tool: "get-sum", args: { a: "one", b: 2 }, no: { isError: true } },
  unknownTool: { isError: true },
  progress: { tool: "trigger-long-running-operation", args: { duration: 0.03, steps: 3 }, steps: 3 },
  log: {
    tool: "toggle-simulated-logging",
    isLine: ({ data }) => /-level message|level-message/.test(String(data)),
    quiet: undefined,
  },
  change: { tool: "toggle-subscriber-updates", change: { uri: `${dynamic}/text/1` } },
  unasked: true,
  textResource: { uri: `${dynamic}/text/7`, mimeType: "text/plain", text: /^Resource 7: This is a plaintext resource/ },
  blobResource: { uri: `${dynamic}/blob/7`, mimeType: "text/plain", blob: /^UmVzb3VyY2UgNz/ },
  templateResource: { uri: "demo://resource/static/document/features.md", text: /^# Everything Server/ },
  unknownResource: { uri: "demo://nothing", code: -32602 },
  prompt: { name: "args-prompt", args: { city: "Oslo" }, text: "What's weather in Oslo?" },
  unknownPrompt: { code: -32602 },
  invalidPrompt: { name: "args-prompt", code: -32602 },
  promptCompletion: {
    ref: { type: "ref/prompt", name: "completable-prompt" },
    name: "department",
    value: "S",
    values: ["Sales", "Support"],
  },
  templateCompletion: {
    ref: { type: "ref/resource", uri: `${dynamic}/text/{resourceId}` },
    name: "resourceId",
    value: "12",
    values: ["12"],
  },
  form: {
    tool: "trigger-elicitation-request",
    message: "Please provide inputs for the following fields:",
    content: { name: "Ada" },
    told: ["- Name: Ada", "- Favorite Integer: 42", "It was a dark and stormy night."],
  },
  page: {
    tool: "trigger-url-elicitation",
    args: { url: "https://example.com/sign-in" },
    url: "https://example.com/sign-in",
    completes: false,
    told: "User completed the URL elicitation flow",
  },
  locked: {
    tool: "trigger-url-elicitation",
    args: { url: "https://example.com/locked", errorPath: true },
    opener: undefined,
    url: "https://modelcontextprotocol.io",
    text: "URL: https://example.com/locked",
  },
  rounds: "each tool of the server asks once",
  sampling: {
    tool: "trigger-sampling-request",
    args: { prompt: "Think!", maxTokens: 7 },
    asked: /context: Think!$/,
    maxTokens: 7,
  },
  roots: { tool: "get-roots-list" },
  changedRoots: { tool: "get-roots-list" },
  undeclared: { tool: "trigger-elicitation-request", no: { isError: true } },
  endless: { tool: "trigger-long-running-operation", args: { duration: 60, steps: 6_000 } },
  witness: UNSEEN,
  usable: true,
  leave: LOYAL,
  forget: LOYAL,
  die: LOYAL,
  session: "there are sessions over Streamable HTTP alone",
  fetch: true,
}

const NO_RESOURCES = "the server has no resources"
const NO_PROMPTS = "the server has no prompts"
const NO_QUESTIONS = "the server does not ask this"
const QUICK = "no tool of the server takes time"
const NO_HTTP = "the server is on pipes alone"

/** What neither filesystem nor memory has. */
const small = {
  templates: NO_RESOURCES,
  prompts: NO_PROMPTS,
  pages: "the server sends every list whole",
  echo: "no tool of the server repeats what it is told",
  unknownTool: { isError: true },
  progress: QUICK,
  log: "the server sends no logs",
  blobResource: NO_RESOURCES,
  templateResource: NO_RESOURCES,
  prompt: NO_PROMPTS,
  unknownPrompt: NO_PROMPTS,
  invalidPrompt: NO_PROMPTS,
  promptCompletion: NO_PROMPTS,
  templateCompletion: NO_RESOURCES,
  form: NO_QUESTIONS,
  page: NO_QUESTIONS,
  locked: NO_QUESTIONS,
  rounds: NO_QUESTIONS,
  sampling: NO_QUESTIONS,
  undeclared: NO_QUESTIONS,
  endless: QUICK,
  witness: QUICK,
  usable: true,
  leave: LOYAL,
  forget: LOYAL,
  die: LOYAL,
  session: NO_HTTP,
  fetch: NO_HTTP,
} as const

const filesystem: Abilities = {
  ...small,
  tools: ["read_text_file", "read_media_file", "write_file", "edit_file", "list_directory", "list_allowed_directories"],
  resources: NO_RESOURCES,
  absent: { list: "listResources", code: -32601 },
  text: { tool: "read_text_file", args: { path: note }, text: "Remember the milk 🥛." },
  structured: { tool: "read_text_file", args: { path: note }, value: { content: "Remember the milk 🥛." } },
  failing: { tool: "read_text_file", args: { path: "/nowhere/at/all" }, text: "Access denied" },
  invalid: { tool: "read_text_file", args: { path: 7 }, no: { isError: true } },
  change: "the server tells of no changes",
  unasked: "the server tells of no changes",
  textResource: NO_RESOURCES,
  unknownResource: NO_RESOURCES,
  roots: { tool: "list_allowed_directories" },
  changedRoots: { tool: "list_allowed_directories" },
}

const graph = "memory://knowledge-graph"
const ada = { name: "Ada", entityType: "person", observations: ["counts"] }

const memory: Abilities = {
  ...small,
  tools: ["create_entities", "create_relations", "add_observations", "delete_entities", "read_graph", "search_nodes"],
  resources: [graph],
  templates: [],
  absent: { list: "listPrompts", code: -32601 },
  text: { tool: "delete_entities", args: { entityNames: ["Nobody"] }, text: "Entities deleted successfully" },
  structured: { tool: "search_nodes", args: { query: "nobody" }, value: { entities: [], relations: [] } },
  failing: {
    tool: "add_observations",
    args: { observations: [{ entityName: "Nobody", contents: ["counts"] }] },
    text: "Entity with name Nobody not found",
  },
  invalid: { tool: "create_entities", args: { entities: 7 }, no: { isError: true } },
  change: { tool: "create_entities", args: { entities: [ada] }, change: { uri: graph } },
  unasked: true,
  textResource: { uri: graph, mimeType: "application/json", text: /"entities": \[/ },
  unknownResource: { uri: "memory://nothing", code: -32602 },
  roots: NO_QUESTIONS,
  changedRoots: NO_QUESTIONS,
}

type Mode = "http" | "sse" | "stdio"
const everythingModes: Readonly<Record<Mode, { readonly argument: string; readonly path: string | undefined }>> = {
  http: { argument: "streamableHttp", path: "/mcp" },
  sse: { argument: "sse", path: "/sse" },
  stdio: { argument: "stdio", path: undefined },
}

function everythingOver(mode: Mode, has: Abilities): Column {
  const { argument, path } = everythingModes[mode]
  return {
    ...legacyOnly,
    name: `everything over ${mode}`,
    heads: [mode, "everything", SPOKEN.version],
    place: { script: `${packages}/server-everything/dist/index.js`, args: [argument], path },
    server: { name: "mcp-servers/everything", version: "2.0.0" },
    instructions: /^# Everything Server/,
    protocol: "auto",
    has,
  }
}

/** All of them. */
export const published: readonly Column[] = [
  everythingOver("http", {
    ...everything,
    session: { late: 400 },
    unasked:
      "not each time: its tool switches the telling on and off, and what it tells before its stream is open is lost",
  }),
  { ...everythingOver("sse", everything), again: "fell_back" },
  everythingOver("stdio", { ...everything, session: NO_HTTP, fetch: NO_HTTP }),
  {
    ...legacyOnly,
    name: "filesystem over stdio",
    heads: ["stdio", "filesystem", SPOKEN.version],
    place: { script: `${packages}/server-filesystem/dist/index.js`, args: [scratch], path: undefined },
    server: { name: "secure-filesystem-server", version: "0.2.0" },
    instructions: undefined,
    protocol: "auto",
    has: filesystem,
  },
  {
    ...legacyOnly,
    name: "memory over stdio",
    heads: ["stdio", "memory", SPOKEN.version],
    place: {
      script: `${packages}/server-memory/dist/index.js`,
      args: [],
      env: { MEMORY_FILE_PATH: join(scratch, "memory.jsonl") },
      path: undefined,
    },
    server: { name: "memory-server", version: "0.6.3" },
    instructions: undefined,
    protocol: "auto",
    has: memory,
  },
]
