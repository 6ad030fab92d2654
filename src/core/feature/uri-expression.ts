/** The expressions of a URI template, `{+a,b*,c:3}`, as values: their grammar and what each operator stands for. */
import { clampText } from "./text.js"

/** How the values of an expression are written; one row of the table in RFC 6570, appendix A. */
export interface Operator {
  /** What the expansion starts with, unless it is empty. */
  readonly first: "" | "#" | "." | "/" | ";" | "?" | "&"
  readonly separator: "," | "." | "/" | ";" | "&"
  /** Whether each value follows its name. */
  readonly named: boolean
  /** What follows a name whose value is empty. */
  readonly ifEmpty: "" | "="
  /** Whether reserved characters and escapes stay as they are. */
  readonly reserved: boolean
}

/** One variable of an expression. */
export interface VariableSpec {
  readonly name: string
  /** `*`: a list or record, each of its values on its own. */
  readonly explode: boolean
  /** `:n`: the first n code points only. */
  readonly maxLength: number | undefined
}

/** A part of a template that is replaced by values. */
export interface Expression {
  readonly operator: Operator
  readonly specs: readonly VariableSpec[]
}

/** What is wrong with a template, in words. */
export interface TemplateProblem {
  readonly ok: false
  readonly problem: string
}

const PLAIN: Operator = { first: "", separator: ",", named: false, ifEmpty: "", reserved: false }

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["+", { first: "", separator: ",", named: false, ifEmpty: "", reserved: true }],
  ["#", { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true }],
  [".", { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false }],
  ["/", { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false }],
  [";", { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false }],
  ["?", { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false }],
  ["&", { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false }],
])

/** A name with its modifier. Hyphens inside a name, which the grammar lacks, are common and harmless. */
const SPEC = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.-]|%[0-9A-Fa-f]{2})*)(?:(\*)|:([1-9][0-9]{0,3}))?$/

/**
 * Reads what stands between the braces of an expression.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-2.2
 */
export function parseExpression(text: string): Expression | TemplateProblem {
  const operator = OPERATORS.get(text.charAt(0))
  const specs: VariableSpec[] = []
  for (const item of (operator === undefined ? text : text.slice(1)).split(",")) {
    const [, name, star, length] = SPEC.exec(item) ?? []
    if (name === undefined || /\.\.|\.$/.test(name))
      return { ok: false, problem: `{${clampText(text)}} is not a valid expression` }
    specs.push({ name, explode: star !== undefined, maxLength: length === undefined ? undefined : Number(length) })
  }
  return { operator: operator ?? PLAIN, specs }
}
