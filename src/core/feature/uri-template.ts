/** URI templates of RFC 6570: parsed once, then expanded from values and matched back to them. */
import { clampText } from "./text.js"
import { encodeLiteral, expandExpression, type TemplateValues } from "./uri-expand.js"
import { type Expression, parseExpression, type TemplateProblem } from "./uri-expression.js"
import { createMatcher, type MatchedValues, matchUri, toCanonical } from "./uri-match.js"

/** A parsed template. */
export interface UriTemplate {
  readonly ok: true
  readonly template: string
  /** The names of its variables, each once, in the order in which they first appear. */
  readonly variables: readonly string[]
  /** The URI for these values; a variable without a value is left out. */
  expand(values: TemplateValues): string
  /**
   * The decoded values with which the template gives `uri`: a list for each variable with `*` (empty when it is not there), a
   * text for each other variable that is there. Query parameters may come in any order. A plain variable takes at least one
   * character and no `/`, `?` or `#`. Undefined when the URI is none of the template's. Takes time linear in the URI.
   */
  match(uri: string): MatchedValues | undefined
}

const MAX_LENGTH = 2048
const MAX_VARIABLES = 64
const UNESCAPED = /["<>\\^`{|}\s\p{Cc}\p{Cs}]/u

/**
 * Parses a template of at most 2,048 characters and 64 variables.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
export function parseUriTemplate(template: string): UriTemplate | TemplateProblem {
  if (template.length > MAX_LENGTH) return { ok: false, problem: `a URI template has at most ${MAX_LENGTH} characters` }
  const parts: (string | Expression)[] = []
  for (let at = 0; at < template.length; ) {
    const isExpression = template.charAt(at) === "{"
    const stop = template.indexOf(isExpression ? "}" : "{", at)
    if (isExpression && stop < 0) return { ok: false, problem: "a brace is opened and not closed" }
    const end = stop < 0 ? template.length : stop
    const part = isExpression ? parseExpression(template.slice(at + 1, end)) : parseLiteral(template.slice(at, end))
    if (typeof part !== "string" && "problem" in part) return part
    parts.push(part)
    at = isExpression ? end + 1 : end
  }
  const specs = parts.flatMap((part) => (typeof part === "string" ? [] : part.specs))
  if (specs.length > MAX_VARIABLES)
    return { ok: false, problem: `a URI template has at most ${MAX_VARIABLES} variables` }
  const matcher = createMatcher(parts.map((part) => (typeof part === "string" ? (toCanonical(part) ?? part) : part)))
  return {
    ok: true,
    template,
    variables: [...new Set(specs.map((spec) => spec.name))],
    expand: (values) =>
      parts.map((part) => (typeof part === "string" ? part : expandExpression(part, values))).join(""),
    match: (uri) => matchUri(matcher, uri),
  }
}

/**
 * Whether a value climbs out of the folder that it is put behind: one of its segments is `..`, between slashes of either kind,
 * as they are or escaped once more. A reader of files asks this, and still resolves and compares the path.
 */
export function hasTraversal(value: string): boolean {
  const plain = value.replace(/%2e/gi, ".").replace(/%2f/gi, "/").replace(/%5c/gi, "\\")
  return plain.split(/[/\\]/).includes("..")
}

function parseLiteral(text: string): string | TemplateProblem {
  const [char] = UNESCAPED.exec(text) ?? []
  if (char !== undefined) return { ok: false, problem: `"${clampText(char)}" may not stand in a URI template` }
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return { ok: false, problem: '"%" must be followed by two hexadecimal digits' }
  return encodeLiteral(text)
}
