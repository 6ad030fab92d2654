/** Entries of a server's lists as a client reads them, one by one, so that a malformed one is no harm to the others. */
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { clampText } from "./text.js"

/** The lists that come in pages. Each is a member of the same name in the result. */
export type EntryKind = "tools" | "resources" | "resourceTemplates" | "prompts"

/** An entry that can be served, or why it is set aside. `name` is what it says it is called; undefined when it does not. */
export type ReadEntry =
  | { readonly ok: true; readonly key: string; readonly entry: JsonObject }
  | { readonly ok: false; readonly name: string | undefined; readonly reason: string }

type Shape = "a string" | "a number" | "a boolean" | "a list" | "an object"
type Shapes = Readonly<Record<string, Shape>>

interface Rule {
  /** The member that tells entries apart. */
  readonly key: "name" | "uri" | "uriTemplate"
  readonly required: Shapes
  readonly optional: Shapes
}

const DESCRIBED: Shapes = { title: "a string", description: "a string", icons: "a list", _meta: "an object" }
const RESOURCE: Shapes = { ...DESCRIBED, mimeType: "a string", annotations: "an object" }

const RULES: Readonly<Record<EntryKind, Rule>> = {
  tools: {
    key: "name",
    required: { name: "a string", inputSchema: "an object" },
    optional: { ...DESCRIBED, outputSchema: "an object", annotations: "an object" },
  },
  resources: {
    key: "uri",
    required: { uri: "a string", name: "a string" },
    optional: { ...RESOURCE, size: "a number" },
  },
  resourceTemplates: {
    key: "uriTemplate",
    required: { uriTemplate: "a string", name: "a string" },
    optional: RESOURCE,
  },
  prompts: { key: "name", required: { name: "a string" }, optional: { ...DESCRIBED, arguments: "a list" } },
}

const ARGUMENT: Rule = {
  key: "name",
  required: { name: "a string" },
  optional: { title: "a string", description: "a string", required: "a boolean" },
}

/**
 * Reads one entry of a list. What it must have is there and of its type, and so is what it may have; an optional member that is
 * null counts as absent, and is left out. Members that are not known stay.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema#tool
 */
export function readEntry(kind: EntryKind, value: JsonValue | undefined): ReadEntry {
  const rule = RULES[kind]
  if (!isJsonObject(value)) return { ok: false, name: undefined, reason: `must be an object, not ${shown(value)}` }
  const reason = problemOf(rule, value) ?? (kind === "prompts" ? argumentProblem(value["arguments"]) : undefined)
  if (reason !== undefined) return { ok: false, name: nameOf(rule, value), reason }
  const entry = withoutNulls(rule, value)
  const args = entry["arguments"]
  return {
    ok: true,
    key: String(value[rule.key]),
    entry: kind === "prompts" && Array.isArray(args) ? { ...entry, arguments: args.map(cleanArgument) } : entry,
  }
}

function problemOf({ required, optional }: Rule, value: JsonObject): string | undefined {
  for (const [member, shape] of Object.entries(required)) {
    if (!isOf(shape, value[member])) return `${member} must be ${shape}, not ${shown(value[member])}`
  }
  for (const [member, shape] of Object.entries(optional)) {
    const given = value[member]
    if (given !== undefined && given !== null && !isOf(shape, given)) {
      return `${member} must be ${shape}, not ${shown(given)}`
    }
  }
  return undefined
}

function argumentProblem(args: JsonValue | undefined): string | undefined {
  if (!Array.isArray(args)) return undefined
  for (const [index, arg] of args.entries()) {
    if (!isJsonObject(arg)) return `arguments[${index}] must be an object, not ${shown(arg)}`
    const problem = problemOf(ARGUMENT, arg)
    if (problem !== undefined) return `arguments[${index}].${problem}`
  }
  return undefined
}

function isOf(shape: Shape, value: JsonValue | undefined): boolean {
  switch (shape) {
    case "a string":
      return typeof value === "string"
    case "a number":
      return typeof value === "number"
    case "a boolean":
      return typeof value === "boolean"
    case "a list":
      return Array.isArray(value)
    case "an object":
      return isJsonObject(value)
  }
}

/** The entry itself, unless there is something to leave out. */
function withoutNulls({ optional }: Rule, value: JsonObject): JsonObject {
  const isNull = ([member, given]: readonly [string, JsonValue | undefined]): boolean =>
    given === null && Object.hasOwn(optional, member)
  const members = Object.entries(value)
  return members.some(isNull) ? Object.fromEntries(members.filter((member) => !isNull(member))) : value
}

function cleanArgument(arg: JsonValue): JsonValue {
  return isJsonObject(arg) ? withoutNulls(ARGUMENT, arg) : arg
}

function nameOf({ key }: Rule, { name, ...rest }: JsonObject): string | undefined {
  const said = typeof name === "string" ? name : rest[key]
  return typeof said === "string" ? clampText(said) : undefined
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? `"${clampText(value, 40)}"` : clampText(value, 40)
}
