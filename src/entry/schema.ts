/** `conduit-mcp/schema`: schemas from raw JSON Schema. Only this subpath loads the validator. */
export { jsonSchema, withJsonSchema } from "../core/schema/raw-schema.js"
export type {
  InputOf,
  JsonSchemaConverter,
  JsonSchemaOptions,
  OutputOf,
  Schema,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from "../core/schema/standard.js"
