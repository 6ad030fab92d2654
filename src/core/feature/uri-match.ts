/**
 * Matching of URIs against a template, in time that grows with the URI and not with what is in it. The template is a chain of
 * stages, each an expression and the literal after it. A stage is one pass over the URI that turns the set of positions
 * where it may begin into the set of positions where it may end, so nothing is ever tried twice.
 */
import type { Expression, VariableSpec } from "./uri-expression.js"

/** The decoded values of a matched URI: lists for variables with `*`, texts for the others. */
export type MatchedValues = Record<string, string | readonly string[]>

/** A template made ready for matching. */
export interface Matcher {
  /** What every URI of the template starts with. */
  readonly head: string
  readonly stages: readonly Stage[]
}

/** A literal in canonical form, or an expression. */
export type TemplatePart = string | Expression

interface Stage extends Expression {
  /** The literal that follows, in canonical form. */
  readonly tail: string
  /** By character code, whether no value may have the character as it is. */
  readonly blocked: Uint8Array
  /** How many separators the expansion may have after its first character. */
  readonly maxSeparators: number
}

/** A longer URI does not match: it would not even fit into the header that repeats it. */
const MAX_URI_LENGTH = 65_536

/** Compiles the parts of a template. Literals have to be in the form of {@link toCanonical}. */
export function createMatcher(parts: readonly TemplatePart[]): Matcher {
  const merged = mergeNeighbours(parts)
  const head = typeof merged[0] === "string" ? merged[0] : ""
  const stages: Stage[] = []
  let before = ""
  for (const [index, part] of merged.entries()) {
    if (typeof part === "string") {
      before += part
      continue
    }
    const next = merged[index + 1]
    const blocked = new Uint8Array(128)
    for (const char of blockedBy(part, before, next)) blocked[char.charCodeAt(0)] = 1
    const tail = typeof next === "string" ? next : ""
    stages.push({ ...part, tail, blocked, maxSeparators: maxSeparatorsOf(part) })
  }
  return { head, stages }
}

/**
 * The values with which the template gives `uri`. Where several would, later variables are the shortest. Undefined when none
 * do, when an escape is not valid UTF-8, and when a value would hold NUL.
 */
export function matchUri({ head, stages }: Matcher, uri: string): MatchedValues | undefined {
  const text = uri.length > MAX_URI_LENGTH ? undefined : toCanonical(uri)
  if (!text?.startsWith(head) || text.length > MAX_URI_LENGTH) return undefined
  if (stages.length === 0) return text === head ? {} : undefined
  const runs = findRuns(text, head.length, stages)
  if (runs === undefined) return undefined
  const bindings: Binding[] = []
  for (const [index, stage] of stages.entries()) {
    const read = readRun(stage, runs[index] ?? "")
    if (read === undefined) return undefined
    bindings.push(...read)
  }
  return collect(bindings)
}

/**
 * The one form in which equal URIs are equal texts: other characters escaped, escapes in upper case, none for unreserved
 * characters. Undefined for a broken escape or a lone surrogate.
 *
 * @see https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
 */
export function toCanonical(uri: string): string | undefined {
  if (/^[!-$&-~]*$/.test(uri)) return uri
  if (/%(?![0-9A-Fa-f]{2})/.test(uri) || /\p{Cs}/u.test(uri)) return undefined
  return uri
    .replace(/[^!-~]+/g, (text) => encodeURIComponent(text))
    .replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
      const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
      return /[A-Za-z0-9\-._~]/.test(char) ? char : triplet.toUpperCase()
    })
}

/** Neighbours that expand as one: `{/a}{/b}` is `{/a,b}`, and `{?a}{&b}` is `{?a,b}`. */
function mergeNeighbours(parts: readonly TemplatePart[]): TemplatePart[] {
  const merged: TemplatePart[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (typeof part !== "string" && last !== undefined && typeof last !== "string" && continues(last, part)) {
      merged[merged.length - 1] = { operator: last.operator, specs: [...last.specs, ...part.specs] }
    } else merged.push(part)
  }
  return merged
}

function continues({ operator: { first, separator } }: Expression, { operator }: Expression): boolean {
  return operator.first === separator && (first === separator || first === "?")
}

/** What a value cannot have as it is: it is escaped in an expansion, or it would belong to what comes next. */
function blockedBy({ operator }: Expression, before: string, next: TemplatePart | undefined): string {
  if (operator.reserved) return ""
  if (operator.first === "?" || operator.first === "&") return "#"
  if (operator.first === "/") return "?#"
  if (operator.first !== "") return "/?#"
  const follows = next === undefined || typeof next === "string" ? "" : next.operator.first.replace(".", "")
  return `/?#${follows}${before.includes("?") ? "&" : ""}`
}

function maxSeparatorsOf({ operator, specs }: Expression): number {
  if (specs.some((spec) => spec.explode)) return MAX_URI_LENGTH
  return isWhole({ operator, specs }) ? MAX_URI_LENGTH : specs.length - 1
}

/** Whether the run is the one value, separators and all, because a value may hold them as they are. */
function isWhole({ operator, specs }: Expression): boolean {
  return specs.length === 1 && specs[0]?.explode === false && !operator.named && operator.first !== "/"
}

/** Where a stage may end, in ascending order, and where it began in each case. */
interface Ends {
  readonly at: number[]
  readonly from: number[]
}

/** The part of the URI that each stage's expression takes up. */
function findRuns(text: string, from: number, stages: readonly Stage[]): string[] | undefined {
  const passes: Ends[] = []
  let begins = [from]
  for (const stage of stages) {
    const pass = passOver(text, stage, begins, passes.length === stages.length - 1)
    passes.push(pass)
    begins = pass.at
  }
  const runs: string[] = []
  let end = text.length
  for (let index = stages.length - 1; index >= 0; index -= 1) {
    const pass = passes[index]
    const begin = pass?.from[pass.at.lastIndexOf(end)]
    if (begin === undefined) return undefined
    runs.unshift(text.slice(begin, end - (stages[index]?.tail.length ?? 0)))
    end = begin
  }
  return runs
}

/**
 * One stage over the URI, from any of the positions where it may begin; the last stage may end with the URI only. Of several
 * beginnings the latest is enough: a shorter run breaks no rule that a longer one keeps.
 */
function passOver(text: string, stage: Stage, begins: readonly number[], isLast: boolean): Ends {
  const { operator, tail, blocked, maxSeparators } = stage
  const ends: Ends = { at: [], from: [] }
  const isOptional = operator.first !== ""
  const first = isOptional ? operator.first.charCodeAt(0) : -1
  const separator = operator.separator.charCodeAt(0)
  const only = text.endsWith(tail) ? text.length - tail.length : -1
  let begin = -1
  let separators = 0
  for (let at = begins[0] ?? text.length, next = 0; at <= text.length; at += 1) {
    const mayBegin = next < begins.length && begins[next] === at
    if (mayBegin) next += 1
    else if (begin < 0 && next >= begins.length) break
    const isAbsent = isOptional && mayBegin && begin < 0
    if ((begin >= 0 || isAbsent) && (isLast ? at === only : text.startsWith(tail, at))) {
      ends.at.push(at + tail.length)
      ends.from.push(isAbsent ? at : begin)
    }
    if (at === text.length) break
    const code = text.charCodeAt(at)
    if (mayBegin && (!isOptional || code === first)) {
      begin = at
      separators = 0
      if (isOptional) continue
    }
    if (code === separator) separators += 1
    if (separators > maxSeparators || blocked[code] === 1) begin = -1
  }
  return ends
}

interface Binding {
  readonly spec: VariableSpec
  /** Undefined when the variable is not there. */
  readonly value: string | readonly string[] | undefined
}

/** The variables of one run; undefined when the run cannot be theirs. */
function readRun(stage: Stage, run: string): Binding[] | undefined {
  const { operator, specs } = stage
  if (run === "") return specs.map((spec) => ({ spec, value: undefined }))
  const body = run.slice(operator.first.length)
  const pieces = isWhole(stage) ? [body] : body.split(operator.separator)
  return operator.named ? readNamed(specs, pieces, operator.ifEmpty) : readOrdered(specs, pieces)
}

/** Values in the order of their variables; a list takes what the variables after it do not need. */
function readOrdered(specs: readonly VariableSpec[], pieces: readonly string[]): Binding[] | undefined {
  let at = 0
  const bindings = specs.map((spec, index): Binding => {
    const left = Math.max(0, pieces.length - at)
    if (!spec.explode) return { spec, value: pieces[at++] }
    const count = Math.max(Math.min(left, 1), left - (specs.length - 1 - index))
    at += count
    return { spec, value: pieces.slice(at - count, at) }
  })
  return at < pieces.length ? undefined : bindings
}

/** Values by name, in any order; an unknown name, or a second value for a variable that is no list, is no match. */
function readNamed(specs: readonly VariableSpec[], pieces: readonly string[], ifEmpty: string): Binding[] | undefined {
  const found = new Map<string, string[]>(specs.map(({ name }) => [toCanonical(name) ?? name, []]))
  for (const piece of pieces) {
    const equals = piece.indexOf("=")
    if (equals < 0 && ifEmpty !== "") return undefined
    const values = found.get(equals < 0 ? piece : piece.slice(0, equals))
    if (values === undefined) return undefined
    values.push(equals < 0 ? "" : piece.slice(equals + 1))
  }
  const bindings = specs.map((spec): Binding & { readonly count: number } => {
    const values = found.get(toCanonical(spec.name) ?? spec.name) ?? []
    return { spec, value: spec.explode ? values : values[0], count: values.length }
  })
  return bindings.some(({ spec, count }) => !spec.explode && count > 1) ? undefined : bindings
}

/** Decodes and puts together; a variable that stands twice must say the same, as far as its length limit lets it. */
function collect(bindings: readonly Binding[]): MatchedValues | undefined {
  const values: MatchedValues = Object.create(null)
  const wholeFirst = bindings.toSorted((a, b) => Number(isCut(a)) - Number(isCut(b)))
  for (const { spec, value: raw = spec.explode ? [] : undefined } of wholeFirst) {
    if (raw === undefined) continue
    const value = typeof raw === "string" ? decode(raw) : decodeAll(raw)
    if (value === undefined || !fits(value, spec.maxLength)) return undefined
    const known = values[spec.name]
    if (known === undefined) values[spec.name] = value
    else if (!agrees(known, value, spec.maxLength !== undefined)) return undefined
  }
  return values
}

function isCut({ spec }: Binding): boolean {
  return spec.maxLength !== undefined
}

function fits(value: string | readonly string[], maxLength: number | undefined): boolean {
  return maxLength === undefined || (value.length <= maxLength * 2 && Array.from(value).length <= maxLength)
}

function agrees(known: string | readonly string[], value: string | readonly string[], isPrefix: boolean): boolean {
  if (typeof known === "string" && typeof value === "string" && isPrefix) return known.startsWith(value)
  return JSON.stringify(known) === JSON.stringify(value)
}

function decodeAll(texts: readonly string[]): readonly string[] | undefined {
  const values: string[] = []
  for (const text of texts) {
    const value = decode(text)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function decode(text: string): string | undefined {
  try {
    const value = text.includes("%") ? decodeURIComponent(text) : text
    return value.includes("\0") ? undefined : value
  } catch {
    return undefined
  }
}
