/**
 * JSON as a tree of raw text, so that it can say what `JSON.stringify` never writes: a key twice, a number out of range, an
 * odd escape, a level too many. And the arbitraries of odd values.
 */
import fc from "fast-check"

/** An object whose members stand as they are written, or any other value as raw JSON text. Keys are raw too, without quotes. */
export type Tree = string | readonly Member[]
/** One member of an object. */
export type Member = readonly [key: string, value: Tree]

/** Writes a tree. */
export function toText(tree: Tree): string {
  if (typeof tree === "string") return tree
  return `{${tree.map(([key, value]) => `"${key}":${toText(value)}`).join(",")}}`
}

/** The tree of a value. */
export function toTree(value: unknown): Tree {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value)
  return Object.entries(value).map(([key, member]) => [JSON.stringify(key).slice(1, -1), toTree(member)])
}

/** One change of a tree, at one of its members counted in order. */
export interface Change {
  readonly at: number
  readonly how: "replace" | "drop" | "repeat" | "rename"
  readonly key: string
  readonly value: Tree
}

/** The tree after a change; the same tree when it has no members. */
export function changed(tree: Tree, { at, how, key, value }: Change): Tree {
  let left = at % Math.max(1, countMembers(tree))
  const instead: Record<Change["how"], (name: string, member: Tree) => readonly Member[]> = {
    drop: () => [],
    repeat: (name, member) => [
      [name, member],
      [name, value],
    ],
    rename: (_, member) => [[key, member]],
    replace: (name) => [[name, value]],
  }
  const visit = (node: Tree): Tree => {
    if (typeof node === "string") return node
    return node.flatMap(([name, member]) =>
      left-- === 0 ? instead[how](name, member) : [[name, visit(member)] as const],
    )
  }
  return visit(tree)
}

function countMembers(tree: Tree): number {
  return typeof tree === "string" ? 0 : tree.reduce((sum, [, value]) => sum + 1 + countMembers(value), 0)
}

/** Numbers that JSON can write and that readers take differently. */
export const ODD_NUMBERS = [
  "0",
  "-0",
  "1.5",
  "1e3",
  "1E-999",
  "1e400",
  "-1e400",
  "9007199254740991",
  "9007199254740993",
  "12345678901234567890",
  "9".repeat(400),
] as const

/** Texts that are hard to compare, to show or to send on, as JSON. */
export const ODD_STRINGS = [
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u2028\\u2029"',
  '"\\ufeff"',
  '"\\u00e9"',
  '"e\\u0301"',
  '"\\u202e\\u200b"',
  '"\\u001b]8;;http://a\\u0007"',
  '"\\n\\ndata: {\\"forged\\":true}\\n\\n"',
  '"\\r\\nid: 1\\r\\nretry: 1\\r\\nevent: forged\\r\\n\\r\\n"',
  '"../../etc/passwd"',
  '"%2e%2e%2f%00"',
  '"*\\n:"',
  '"__proto__"',
  '"constructor"',
  '"=?base64?Zm9v?="',
  '"^(a+)+$"',
  `"${"a".repeat(3_000)}!"`,
  `"${",".repeat(3_000)}"`,
] as const

/** Keys that mean something to an engine, to JSON-RPC or to another reader of the same bytes. */
export const ODD_KEYS = [
  "__proto__",
  "\\u005f_proto__",
  "\\u005F\\u005fproto\\u005f\\u005f",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "toJSON",
  "",
  "Method",
  "METHOD",
  "meth\\u006fd",
  "paramſ",
  "Params",
  "p\\u0061rams",
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
  "_meta",
  "name",
  "arguments",
  "requestState",
  "inputResponses",
  "cursor",
  "task",
  "e\\u0301",
] as const

const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels)

/** Values that are deeper or wider than any message should be. */
export const oversized: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 55, max: 70 }).map((levels) => nested("[", "]", levels)) },
  { weight: 3, arbitrary: fc.integer({ min: 55, max: 70 }).map((levels) => `${nested('{"a":', "}", levels)}`) },
  { weight: 1, arbitrary: fc.constant(nested("[", "]", 20_000)) },
  { weight: 1, arbitrary: fc.constant("[".repeat(20_000)) },
  { weight: 1, arbitrary: fc.constant(`[${"1,".repeat(50_001)}1]`) },
  { weight: 1, arbitrary: fc.constant(`"${"x".repeat(100_000)}"`) },
)

/** Any odd value. */
export const oddTree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree; scalar: Tree; object: Tree; list: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 6, arbitrary: tie("scalar") },
    { weight: 3, arbitrary: tie("object") },
    { weight: 2, arbitrary: tie("list") },
    { weight: 1, arbitrary: oversized },
  ),
  scalar: fc.oneof(
    fc.constantFrom("null", "true", "false", "{}", "[]"),
    fc.constantFrom<string>(...ODD_NUMBERS),
    fc.constantFrom<string>(...ODD_STRINGS),
    fc.string({ unit: "binary", maxLength: 8 }).map((text) => JSON.stringify(text)),
  ),
  object: fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom<string>(...ODD_KEYS),
        fc.string({ maxLength: 3 }).map((key) => JSON.stringify(key).slice(1, -1)),
      ),
      tie("tree"),
    ),
    { maxLength: 4 },
  ),
  list: fc.array(tie("tree"), { maxLength: 4 }).map((items) => `[${items.map(toText).join(",")}]`),
})).tree

/** Any change of a tree. */
export const anyChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat({ max: 60 }),
  how: fc.constantFrom("replace", "replace", "drop", "repeat", "rename"),
  key: fc.constantFrom<string>(...ODD_KEYS),
  value: oddTree,
})
