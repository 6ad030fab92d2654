/**
 * The bounds of a message, written once more and in another way than the server does it: which JSON texts must never be looked
 * into, and where a key stands twice.
 */

/** What is wrong with a text that is JSON. */
export type Breach =
  /** Nobody may look into it. */
  | "unreadable"
  /** A key stands twice at the top. */
  | "twice at the top"
  /** A key stands twice directly under `params`. */
  | "twice under params"

const MAX_DEPTH = 64
const MAX_MEMBERS = 50_000
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs

interface Open {
  readonly isObject: boolean
  readonly isParams: boolean
  readonly keys: Set<string>
  key: string
}

/** Looks at the tokens of a text that is JSON. */
export function findBreach(text: string): Breach | undefined {
  const open: Open[] = []
  let members = 0
  let expectsKey = false
  let breach: Breach | undefined
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1)
    if (token === "{" || token === "[") {
      const isParams = open.length === 1 && inner?.key === "params" && token === "{"
      open.push({ isObject: token === "{", isParams, keys: new Set(), key: "" })
      if (open.length > MAX_DEPTH) return "unreadable"
      expectsKey = token === "{"
    } else if (token === "}" || token === "]") {
      open.pop()
      expectsKey = false
    } else if (token === ",") {
      members++
      expectsKey = inner?.isObject === true
    } else if (token === ":") {
      members++
      expectsKey = false
    } else if (expectsKey && inner !== undefined) {
      inner.key = JSON.parse(token) as string
      if (inner.key === "__proto__") return "unreadable"
      if (inner.keys.has(inner.key) && open.length === 1) breach = "twice at the top"
      if (inner.keys.has(inner.key) && inner.isParams) breach ??= "twice under params"
      inner.keys.add(inner.key)
    } else if (/^[-\d]/.test(token) && !Number.isFinite(Number(token))) return "unreadable"
    if (members > MAX_MEMBERS) return "unreadable"
  }
  return breach
}
