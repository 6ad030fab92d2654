/** Schemas from JSON Schema: a raw one that validates by itself, and the missing half for a library that only validates. */
import { misuse } from "../error/error.js"
import { isObject } from "../wire/message.js"
import { type Check, createCheck } from "./interpreter.js"
import { boundSchema, refused } from "./json-schema.js"
import { lintSchema } from "./lint.js"
import type { JsonSchemaConverter, Schema, StandardSchema } from "./standard.js"

/**
 * Makes a schema of a raw JSON Schema. It is listed exactly as it is written, and data is validated against it by an interpreter
 * that never fetches and never generates code. `T` is the type of a valid value; nothing derives it from `raw`.
 *
 * Dialects: draft 2020-12 (without `$schema`), 2019-09, draft-07, draft-06.
 *
 * @throws misuse `invalid_schema` when the schema is not valid, refers outside of itself, or is not safe to validate with; the
 * message names the place and the problem.
 * @example
 * ```ts
 * const city = jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } }, required: ["city"] })
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
export function jsonSchema<T = unknown>(raw: object): Schema<T, T> {
  const linted = lintSchema(raw)
  if (!linted.ok) throw refused("jsonSchema()", linted)
  let check: Check | undefined
  return {
    "~standard": {
      version: 1,
      vendor: "conduit-mcp",
      validate(value) {
        check ??= createCheck(linted)
        const issues = check(value)
        // The caller says what type the schema describes.
        return issues.length === 0 ? { value: value as T } : { issues }
      },
      jsonSchema: { input: () => linted.schema, output: () => linted.schema },
    },
  }
}

/**
 * Adds a JSON Schema to a schema of a library that validates, but does not convert itself. The library validates; what is given
 * here is what is listed. With `{ input, output }` the two sides differ; otherwise one JSON Schema stands for both.
 *
 * @throws misuse `invalid_schema` when `schema` does not validate, or the JSON Schema is too large or refers outside of itself.
 * @example
 * ```ts
 * const count = withJsonSchema(v.object({ n: v.number() }), { type: "object", properties: { n: { type: "number" } } })
 * ```
 */
export function withJsonSchema<Input, Output>(
  schema: StandardSchema<Input, Output>,
  json: object | { readonly input: object; readonly output: object },
): Schema<Input, Output> {
  // Callers without types may pass anything.
  const standard: Partial<StandardSchema<Input, Output>["~standard"]> | undefined = schema?.["~standard"]
  if (typeof standard?.validate !== "function") {
    throw misuse(
      "invalid_schema",
      'withJsonSchema(): the first argument is a schema with a "~standard" property; this has none.',
    )
  }
  const { vendor = "unknown" } = standard
  const validate: typeof standard.validate = (value) => schema["~standard"].validate(value)
  return { "~standard": { version: 1, vendor, validate, jsonSchema: toConverter(json) } }
}

function toConverter(json: object): JsonSchemaConverter {
  const { input, output } = isPair(json) ? json : { input: json, output: json }
  const [from, to] = [boundSchema(input), boundSchema(output)]
  if (!from.ok) throw refused("withJsonSchema()", from)
  if (!to.ok) throw refused("withJsonSchema()", to)
  return { input: () => from.root, output: () => to.root }
}

/** `input` and `output` are no keywords of JSON Schema, so an object of exactly these two is a pair of schemas. */
function isPair(json: object): json is { readonly input: object; readonly output: object } {
  return isObject(json) && Object.keys(json).length === 2 && isObject(json["input"]) && isObject(json["output"])
}
