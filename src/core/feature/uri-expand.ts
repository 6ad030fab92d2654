/** Expansion of URI templates: values into a URI, by all four levels of RFC 6570. */
import type { Expression, Operator, VariableSpec } from "./uri-expression.js"

/** One value inside a list or record. */
export type TemplateScalar = string | number | boolean

/** What a variable may be given; null and undefined leave it out, and so do an empty list and an empty record. */
export type TemplateValue =
  | TemplateScalar
  | null
  | undefined
  | readonly TemplateScalar[]
  | { readonly [key: string]: TemplateScalar }

/** The values of a template's variables, by name. */
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/**
 * The expansion of one expression.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3.2.1
 */
export function expandExpression({ operator, specs }: Expression, values: TemplateValues): string {
  const parts = specs.flatMap((spec) => {
    const value = Object.hasOwn(values, spec.name) ? values[spec.name] : undefined
    return value === undefined || value === null ? [] : expandVariable(operator, spec, value)
  })
  return parts.length === 0 ? "" : operator.first + parts.join(operator.separator)
}

/** Literal text as it stands in a URI: what a URI cannot hold is escaped, escapes stay. */
export function encodeLiteral(text: string): string {
  return encode(text, true)
}

function expandVariable(operator: Operator, spec: VariableSpec, value: NonNullable<TemplateValue>): string[] {
  const write = (text: TemplateScalar) => encode(String(text), operator.reserved)
  if (typeof value !== "object") {
    const text = String(value)
    return [label(operator, spec.name, write(spec.maxLength === undefined ? text : cut(text, spec.maxLength)))]
  }
  if (isList(value)) {
    const items = value.map(write)
    if (items.length === 0) return []
    return spec.explode
      ? items.map((item) => label(operator, spec.name, item))
      : [label(operator, spec.name, items.join(","))]
  }
  const pairs = Object.entries(value).map(([key, item]) => [write(key), write(item)] as const)
  if (pairs.length === 0) return []
  return spec.explode
    ? pairs.map(([key, item]) => (operator.named ? label(operator, key, item) : `${key}=${item}`))
    : [label(operator, spec.name, pairs.flat().join(","))]
}

function isList(value: object): value is readonly TemplateScalar[] {
  return Array.isArray(value)
}

function label({ named, ifEmpty }: Operator, name: string, text: string): string {
  if (!named) return text
  return text === "" ? name + ifEmpty : `${name}=${text}`
}

function cut(text: string, maxLength: number): string {
  return Array.from(text.slice(0, maxLength * 2))
    .slice(0, maxLength)
    .join("")
}

function encode(text: string, reserved: boolean): string {
  const wellFormed = text.replace(/\p{Cs}/gu, "\ufffd")
  if (!reserved) return encodeURIComponent(wellFormed).replace(/[!'()*]/g, escapeChar)
  return wellFormed.replace(/%[0-9A-Fa-f]{2}|%|[^%A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]+/g, (part) =>
    part.startsWith("%") && part.length === 3 ? part : encodeURIComponent(part),
  )
}

function escapeChar(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`
}
