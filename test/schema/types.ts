/** What the types of schemas promise. This file is only compiled: each line is right when the compiler accepts it. */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { tool } from "conduit-mcp"
import { type InputOf, jsonSchema, type OutputOf, type Schema, withJsonSchema } from "conduit-mcp/schema"
import * as v from "valibot"
import { z } from "zod"

/** Compiles only for `true`. */
type Expect<T extends true> = T
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

const zodSchema = z.object({ n: z.string().transform(Number), unit: z.string().default("C") })
const arkSchema = type({ n: "string.numeric.parse" })
const half = v.object({ n: v.pipe(v.string(), v.transform(Number)) })
const valibotSchema = toStandardJsonSchema(half)
const mended = withJsonSchema(half, { type: "object" })
const raw = jsonSchema<{ n: number }>({ type: "object" })
const untyped = jsonSchema({ type: "object" })

/** The three libraries and both functions of the subpath make schemas. */
export const schemas: readonly Schema[] = [zodSchema, arkSchema, valibotSchema, mended, raw, untyped]

/** Each side has its own type. */
export type Sides = [
  Expect<IsSame<InputOf<typeof zodSchema>, { n: string; unit?: string | undefined }>>,
  Expect<IsSame<OutputOf<typeof zodSchema>, { n: number; unit: string }>>,
  Expect<IsSame<InputOf<typeof arkSchema>, { n: string }>>,
  Expect<IsSame<OutputOf<typeof arkSchema>, { n: number }>>,
  Expect<IsSame<InputOf<typeof valibotSchema>, { n: string }>>,
  Expect<IsSame<OutputOf<typeof valibotSchema>, { n: number }>>,
  Expect<IsSame<InputOf<typeof mended>, { n: string }>>,
  Expect<IsSame<OutputOf<typeof mended>, { n: number }>>,
  Expect<IsSame<InputOf<typeof raw>, { n: number }>>,
  Expect<IsSame<OutputOf<typeof raw>, { n: number }>>,
  Expect<IsSame<OutputOf<typeof untyped>, unknown>>,
]

/** A handler gets the output side of each. */
export const tools = [
  tool("zod", { input: zodSchema }, ({ n, unit }) => n.toFixed(1) + unit),
  tool("arktype", { input: arkSchema }, ({ n }) => n.toFixed(1)),
  tool("valibot", { input: valibotSchema }, ({ n }) => n.toFixed(1)),
  tool("mended", { input: mended }, ({ n }) => n.toFixed(1)),
  tool("raw", { input: raw }, ({ n }) => n.toFixed(1)),
]

// @ts-expect-error Half of the standard: "Property 'jsonSchema' is missing in type 'StandardProps<…>'".
tool("plain valibot", { input: half }, () => "")

// @ts-expect-error A raw JSON Schema is no schema ("'type' does not exist in type 'Schema'"); jsonSchema() makes one of it.
tool("raw object", { input: { type: "object" } }, () => "")

// @ts-expect-error The other half alone is not enough either.
withJsonSchema({ type: "object" }, { type: "object" })

// @ts-expect-error A JSON Schema is an object here.
jsonSchema(true)
