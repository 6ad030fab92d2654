/** Messages of both eras: right ones, and what becomes of them when somebody changes them. */
import fc from "fast-check"
import { anyChange, type Change, changed, ODD_STRINGS, oddTree, type Tree, toText, toTree } from "./json-text.js"
import { INHERITED } from "./target.js"

/** Whose rules a message is written by. */
export type EraName = "modern" | "legacy"

/**
 * Where something stands that only a peer knows: its own secret, or a handle that a server gave to it or to somebody else.
 * `«state:3»` is the third state that is known; `«streamSession:3»` and `«streamEvent:3»` belong to one stream.
 */
export const PLACEHOLDER = /«(secret|state|session|cursor|event|task|streamSession|streamEvent):?(\d*)»/g

/** A message to be sent, with placeholders. */
export interface Draft {
  readonly era: EraName
  readonly text: string
  /** The method and the name that the message had before it was changed, for headers that go by those. */
  readonly method: string
  readonly name: string | undefined
  /** What is done to the bytes. */
  readonly damage: Damage | undefined
}

/** What is done to the bytes of a message. */
export interface Damage {
  readonly kind: "cut" | "flip" | "prefix" | "suffix" | "batch" | "twice"
  readonly at: number
  readonly bytes: readonly number[]
}

interface Base {
  readonly method: string
  readonly params: Tree
}

const SECRET = '"«secret»"'
const handle = (kind: string): fc.Arbitrary<Tree> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.nat({ max: 9 }).map((index) => `"«${kind}:${index}»"`) },
    { weight: 1, arbitrary: oddTree },
    { weight: 1, arbitrary: fc.constantFrom<Tree>('"AAAA"', '"conduit1.AAAA"', `"${"A".repeat(70_000)}"`) },
  )

const ANSWERS: readonly Tree[] = [
  toTree({ action: "accept", content: { name: "Ada" } }),
  toTree({ action: "accept", content: { size: 1 } }),
  toTree({ action: "accept", content: { yes: true } }),
  toTree({ action: "decline" }),
  toTree({ action: "accept" }),
  toTree({ role: "assistant", content: { type: "text", text: "said" }, model: "m" }),
  toTree({ roots: [{ uri: "file:///a" }] }),
]

const answers: fc.Arbitrary<Tree> = fc.oneof(
  fc.array(
    fc.tuple(
      fc.constantFrom("name", "size", "sure", "q1", "q2", "__proto__", "constructor"),
      fc.oneof(fc.constantFrom(...ANSWERS), oddTree),
    ),
    { maxLength: 4 },
  ),
  oddTree,
)

const text: fc.Arbitrary<Tree> = fc.oneof(fc.constant<Tree>(SECRET), fc.constantFrom<Tree>(...ODD_STRINGS))
const textArgs = text.map((value): Tree => [["text", value]])

/** The arguments of a call, and in half of the cases what belongs to its further rounds. */
const withRounds = (params: readonly (readonly [string, Tree])[]): fc.Arbitrary<Tree> =>
  fc
    .tuple(fc.option(handle("state"), { freq: 2 }), fc.option(answers, { freq: 2 }))
    .map(
      ([state, given]): Tree => [
        ...params,
        ...(state === null ? [] : [["requestState", state] as const]),
        ...(given === null ? [] : [["inputResponses", given] as const]),
      ],
    )

const ASKING = ["ask", "think", "visit"]

const calls: fc.Arbitrary<Base> = fc.oneof(
  fc
    .tuple(fc.constantFrom("echo", "report", "fails", "refuses"), textArgs)
    .map(([name, args]): Base => ({ method: "tools/call", params: call(name, args) })),
  fc.tuple(fc.constantFrom("mirror", "check", ...INHERITED), oddTree).map(
    ([name, value]): Base => ({
      method: "tools/call",
      params: call(name, [
        ["secret", SECRET],
        ["x-odd", value],
      ]),
    }),
  ),
  fc.tuple(text, oddTree, oddTree).map(
    ([region, count, sure]): Base => ({
      method: "tools/call",
      params: call("region", [
        ["region", region],
        ["count", count],
        ["sure", sure],
      ]),
    }),
  ),
  fc.constant<Base>({ method: "tools/call", params: call("waits", "{}") }),
  fc
    .constantFrom(...ASKING)
    .chain((name) =>
      withRounds([
        ["name", toTree(name)],
        ["arguments", [["text", SECRET]]],
      ]),
    )
    .map((params): Base => ({ method: "tools/call", params })),
)

function call(name: string, args: Tree): Tree {
  return [
    ["name", toTree(name)],
    ["arguments", args],
  ]
}

const URIS = [
  "test://fixed",
  "test://fails",
  "test://one/«secret»",
  "test://none",
  "file:///data/a/b",
  "file:///data/..%2f..%2fetc/passwd",
  "file:///data/a/%2e%2e/%2e%2e/etc",
  "file:///data/..%5c..%5cetc%00",
  "file://host/data/a",
  `test://query?tags=${",".repeat(20_000)}`,
  `test://query?${"tags=a&".repeat(2_000)}page=1`,
  `test://one/${"%41".repeat(5_000)}`,
  "test://one/%zz%c0%80",
  "not a uri",
]

const reads: fc.Arbitrary<Base> = fc.oneof(
  fc.constantFrom(...URIS).map((uri): Base => ({ method: "resources/read", params: [["uri", toTree(uri)]] })),
  withRounds([["uri", '"test://asks/«secret»"']]).map((params): Base => ({ method: "resources/read", params })),
  fc
    .tuple(fc.constantFrom("say", "breaks", ...INHERITED), textArgs)
    .map(([name, args]): Base => ({ method: "prompts/get", params: call(name, args) })),
  withRounds([
    ["name", '"wonder"'],
    ["arguments", [["text", SECRET]]],
  ]).map((params): Base => ({ method: "prompts/get", params })),
)

const lists: fc.Arbitrary<Base> = fc
  .tuple(
    fc.constantFrom("tools/list", "resources/list", "resources/templates/list", "prompts/list"),
    fc.option(handle("cursor")),
  )
  .map(([method, cursor]): Base => ({ method, params: cursor === null ? [] : [["cursor", cursor]] }))

const others: fc.Arbitrary<Base> = fc.oneof(
  fc.tuple(fc.constantFrom("id", "__proto__", "path"), text).map(
    ([name, value]): Base => ({
      method: "completion/complete",
      params: [
        ["ref", toTree({ type: "ref/resource", uri: "test://one/{id}" })],
        [
          "argument",
          [
            ["name", toTree(name)],
            ["value", value],
          ],
        ],
      ],
    }),
  ),
  fc.constantFrom<Base>(
    { method: "server/discover", params: [] },
    { method: "ping", params: [] },
    { method: "logging/setLevel", params: toTree({ level: "debug" }) },
    { method: "resources/subscribe", params: toTree({ uri: "test://one/1" }) },
    { method: "resources/unsubscribe", params: toTree({ uri: "test://one/1" }) },
    { method: "initialize", params: toTree(initializeParams("2025-11-25")) },
    { method: "initialize", params: toTree(initializeParams("2026-07-28")) },
    { method: "tasks/get", params: [["taskId", '"«task:0»"']] },
    { method: "tasks/result", params: [["taskId", '"../*\\n:"']] },
    { method: "rpc.x", params: [] },
    { method: "constructor", params: [] },
    { method: "tools/Call", params: [] },
  ),
)

const listens: fc.Arbitrary<Base> = fc
  .oneof(
    fc.constantFrom<Tree>(
      toTree({ toolsListChanged: true, resourceSubscriptions: ["test://one/1"] }),
      toTree({ promptsListChanged: true }),
      toTree({ resourceSubscriptions: Array.from({ length: 6 }, (_, index) => `test://one/${index}`) }),
      toTree({}),
    ),
    oddTree,
  )
  .map((notifications): Base => ({ method: "subscriptions/listen", params: [["notifications", notifications]] }))

const notices: fc.Arbitrary<Base> = fc.constantFrom<Base>(
  { method: "notifications/initialized", params: [] },
  { method: "notifications/cancelled", params: toTree({ requestId: 1 }) },
  { method: "notifications/cancelled", params: toTree({ requestId: "1", reason: "\n" }) },
  { method: "notifications/progress", params: toTree({ progressToken: 1, progress: 1 }) },
  { method: "notifications/unknown", params: [] },
  { method: "tools/call", params: call("echo", [["text", SECRET]]) },
)

/** The params of `initialize`. */
export function initializeParams(protocolVersion: string): object {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
  return { protocolVersion, capabilities, clientInfo: { name: "fuzz", version: "1" } }
}

const MODERN_META: Tree = [
  ["io.modelcontextprotocol/protocolVersion", '"2026-07-28"'],
  ["io.modelcontextprotocol/clientInfo", toTree({ name: "fuzz", version: "1" })],
  [
    "io.modelcontextprotocol/clientCapabilities",
    toTree({ elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }),
  ],
  ["io.modelcontextprotocol/logLevel", '"debug"'],
  ["progressToken", SECRET],
]
const LEGACY_META: Tree = [["progressToken", SECRET]]

/** Ids that have to come back as they are. */
const goodId: fc.Arbitrary<Tree> = fc.oneof(
  fc.constantFrom<Tree>("0", "1", '"1"', '""', "-1", "9007199254740991", '"__proto__"', '"é"', '"\\u0000"'),
  fc.nat().map(String),
)
const oddId: fc.Arbitrary<Tree> = fc.oneof(oddTree, fc.constantFrom<Tree>("1e3", "1.0", "1.5", "null", "-0"))
const anyId = fc.oneof({ weight: 9, arbitrary: goodId }, { weight: 1, arbitrary: oddId })

function write(era: EraName, { method, params }: Base, id: Tree | undefined, changes: readonly Change[]): string {
  const meta = era === "modern" ? MODERN_META : LEGACY_META
  const whole: Tree = [
    ["jsonrpc", '"2.0"'],
    ...(id === undefined ? [] : [["id", id] as const]),
    ["method", toTree(method)],
    ["params", typeof params === "string" ? params : [["_meta", meta], ...params]],
  ]
  return toText(changes.reduce<Tree>(changed, whole))
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom("cut", "flip", "prefix", "suffix", "batch", "twice"),
  at: fc.nat({ max: 2_000 }),
  bytes: fc.oneof(
    fc.constantFrom(
      [0xef, 0xbb, 0xbf],
      [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf],
      [0xff, 0xfe],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0],
      [0x20, 0x09, 0x0d],
      [0x5d, 0x7d],
    ),
    fc.array(fc.nat({ max: 255 }), { maxLength: 4 }),
  ),
})

const changes = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly Change[]>([]) },
  { weight: 2, arbitrary: fc.array(anyChange, { minLength: 1, maxLength: 3 }) },
)

/** A message of an era, in many cases changed. */
export function anyDraft(era: EraName): fc.Arbitrary<Draft> {
  const request = fc.tuple(fc.oneof(calls, calls, reads, lists, others, listens), anyId)
  const notice = fc.tuple(notices, fc.constant(undefined))
  return fc
    .tuple(
      fc.oneof({ weight: 9, arbitrary: request }, { weight: 1, arbitrary: notice }),
      changes,
      fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: damage }),
    )
    .map(([[base, id], edits, hurt]): Draft => {
      const { method, params } = base
      const named = typeof params === "string" ? [] : params
      const [, name] = named.find(([key]) => key === "name" || key === "uri") ?? []
      return {
        era,
        text: write(era, base, id, edits),
        method,
        name: typeof name === "string" ? (JSON.parse(name) as string) : undefined,
        damage: hurt,
      }
    })
}

/** The bytes of a draft whose placeholders are filled. */
export function toBytes(filled: string, hurt: Damage | undefined): Uint8Array {
  const bytes = new TextEncoder().encode(filled)
  if (hurt === undefined) return bytes
  const at = hurt.at % Math.max(1, bytes.length)
  const raw = Uint8Array.from(hurt.bytes)
  switch (hurt.kind) {
    case "cut":
      return bytes.subarray(0, at)
    case "flip":
      return Buffer.concat([bytes.subarray(0, at), raw, bytes.subarray(at + raw.length)])
    case "prefix":
      return Buffer.concat([raw, bytes])
    case "suffix":
      return Buffer.concat([bytes, raw])
    case "batch":
      return new TextEncoder().encode(`[${filled}]`)
    case "twice":
      return new TextEncoder().encode(`${filled} ${filled}`)
  }
}
