/** Tool arguments that HTTP headers repeat: which ones a schema names with `x-mcp-header`, and how the two are compared. */
import { clampText } from "../feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { decodeHeaderValue, encodeHeaderValue, HEADER_PARAM_PREFIX } from "./header.js"

const ANNOTATION = "x-mcp-header"
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const WHOLE_NUMBER = /^-?[0-9]+(?:\.0+)?$/
const MAX_DEPTH = 64

/** Keywords whose value is data, in which nothing is an annotation. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"])

/** Keywords whose value holds schemas by a name of the author's choice. */
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
])

/** One tool argument that a header repeats. */
export interface ParamHeader {
  /** The header's full name in lower case: `mcp-param-…`. */
  readonly header: string
  /** Where the argument is: the property names that lead to it from the root of the arguments. */
  readonly path: readonly string[]
  readonly type: "string" | "integer" | "boolean"
}

/** The annotated arguments of a tool, or the first annotation that makes its definition invalid and why. */
export type ParamScan =
  | { readonly ok: true; readonly params: readonly ParamHeader[] }
  | { readonly ok: false; readonly path: string; readonly problem: string }

/** A header that is missing or says something else than the body. */
export interface ParamProblem {
  readonly header: string
  readonly problem: string
}

interface Place {
  readonly value: JsonValue | undefined
  /** Whether `value` holds schemas by name, rather than being one. */
  readonly isMap: boolean
  /** Whether only `properties` lead here from the root. */
  readonly reachable: boolean
  readonly key: string
  readonly parent: Place | undefined
}

/**
 * Finds the `x-mcp-header` annotations of a tool's input schema and checks every constraint on them: a header name token,
 * unique whatever its case, on a string, integer or boolean that only `properties` lead to.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
 */
export function scanParamHeaders(inputSchema: JsonObject): ParamScan {
  const params: ParamHeader[] = []
  const taken = new Set<string>()
  const places: Place[] = [{ value: inputSchema, isMap: false, reachable: true, key: "", parent: undefined }]
  for (const place of places) {
    if (!place.isMap && isJsonObject(place.value) && Object.hasOwn(place.value, ANNOTATION)) {
      const param = readAnnotation(place, place.value, taken)
      if ("problem" in param) return { ok: false, path: pointerOf(place), problem: param.problem }
      taken.add(param.header)
      params.push(param)
    }
    for (const child of childrenOf(place)) places.push(child)
  }
  return { ok: true, params }
}

/**
 * Compares the headers of a `tools/call` with its arguments: the first that is missing, is there without its argument, cannot
 * be decoded or says something else. `get` takes a lower-case header name. Whole numbers are compared as numbers, anything
 * else as text; whether an argument has the type that the schema asks for is not judged here.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-behavior-for-custom-headers
 */
export function checkParamHeaders(
  params: readonly ParamHeader[],
  args: JsonObject,
  get: (name: string) => string | undefined,
): ParamProblem | undefined {
  for (const { header, path } of params) {
    const problem = compare(get(header), valueAt(args, path))
    if (problem !== undefined)
      return { header, problem: `${problem}; it repeats arguments.${clampText(path.join("."))}` }
  }
  return undefined
}

/**
 * The headers that repeat the arguments of a `tools/call`. An argument that is absent, null, not primitive or an integer
 * beyond the safe range has none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior
 */
export function toParamHeaders(params: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { header, path } of params) {
    const text = toText(valueAt(args, path))
    if (text !== undefined) headers[header] = encodeHeaderValue(text)
  }
  return headers
}

function* childrenOf(parent: Place): Generator<Place> {
  if (typeof parent.value !== "object" || parent.value === null) return
  for (const [key, value] of Object.entries(parent.value)) {
    if (parent.isMap) yield { value, isMap: false, reachable: parent.reachable, key, parent }
    else if (!DATA_KEYWORDS.has(key)) {
      const reachable = parent.reachable && key === "properties"
      yield { value, isMap: MAP_KEYWORDS.has(key), reachable, key, parent }
    }
  }
}

function readAnnotation(
  place: Place,
  schema: JsonObject,
  taken: ReadonlySet<string>,
): ParamHeader | { problem: string } {
  const name = schema[ANNOTATION]
  if (typeof name !== "string" || !TOKEN.test(name)) {
    return { problem: `x-mcp-header must be a header name token, not "${clampText(name)}"` }
  }
  const path = place.reachable ? propertyPath(place) : []
  if (path.length === 0) {
    return { problem: `x-mcp-header "${clampText(name)}" may only be on a property that properties alone lead to` }
  }
  if (path.length > MAX_DEPTH)
    return { problem: `x-mcp-header "${clampText(name)}" is more than ${MAX_DEPTH} levels deep` }
  const type = schema["type"]
  if (type !== "string" && type !== "integer" && type !== "boolean") {
    return { problem: `x-mcp-header "${clampText(name)}" needs the type string, integer or boolean` }
  }
  const header = `${HEADER_PARAM_PREFIX}${name.toLowerCase()}`
  if (taken.has(header)) return { problem: `x-mcp-header "${clampText(name)}" is used twice` }
  return { header, path, type }
}

/** The names that lead to a reachable schema: every second step, since each is inside a `properties`. */
function propertyPath(place: Place): string[] {
  const path: string[] = []
  for (let at: Place | undefined = place; at?.parent !== undefined; at = at.parent.parent) path.push(at.key)
  return path.reverse()
}

function pointerOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place | undefined = place; at?.parent !== undefined; at = at.parent) keys.push(at.key)
  return keys
    .reverse()
    .map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("")
}

function valueAt(args: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

function toText(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value
  if (typeof value === "boolean") return String(value)
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
}

function compare(raw: string | undefined, value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) {
    return raw === undefined ? undefined : "the header is there, its argument is not"
  }
  const text = toText(value)
  if (text === undefined) return "the argument has a value that no header can repeat"
  if (raw === undefined) return "the header is missing, its argument is there"
  const decoded = decodeHeaderValue(raw)
  if (decoded === undefined) return "the header has invalid characters or invalid base64"
  if (decoded === text) return undefined
  if (Number.isInteger(value) && WHOLE_NUMBER.test(decoded) && Number(decoded) === value) return undefined
  return `the header says "${clampText(decoded)}", its argument "${clampText(text)}"`
}
