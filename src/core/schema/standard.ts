/**
 * The two public interfaces that a schema library offers, by structure: Standard Schema (validation) and Standard JSON Schema
 * (conversion). No schema library is imported anywhere.
 *
 * @see https://standardschema.dev
 */

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What `validate` answers: the checked value, or the issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A schema that validates: zod, arktype, valibot and many more. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** How a library is asked for JSON Schema. Targets that it does not know make it throw. */
export interface JsonSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | ({} & string)
  readonly libraryOptions?: Record<string, unknown> | undefined
}

/** The conversions of a library that also implements Standard JSON Schema. */
export interface JsonSchemaConverter {
  readonly input: (options: JsonSchemaOptions) => Record<string, unknown>
  readonly output: (options: JsonSchemaOptions) => Record<string, unknown>
}

/**
 * What Conduit takes wherever a schema is asked for: one that validates *and* converts itself to JSON Schema. zod 4.2 and
 * arktype 2.2 do; for libraries with half of it, `withJsonSchema(schema, raw)` of `conduit-mcp/schema` adds the other half.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchema<Input, Output>["~standard"] & { readonly jsonSchema: JsonSchemaConverter }
}

/** The type of a schema's input. */
export type InputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"]

/** The type of a schema's output. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"]
