/** Questions to the user: a form to fill in, or a page to go to. */
import { misuse, ToolError } from "../../core/error/error.js"
import { projectForm } from "../../core/feature/form.js"
import { clampText } from "../../core/feature/text.js"
import type { Elicited, ElicitedUrl, FormFacts } from "../../core/model/elicitation.js"
import type { Revision } from "../../core/revision/revision.js"
import { inputJsonSchema } from "../../core/schema/json-schema.js"
import type { OutputOf, Schema } from "../../core/schema/standard.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import { type Accepted, malformed, type Question } from "./question.js"

/** A schema as one revision's clients are shown it. */
interface Form {
  readonly schema: JsonObject
  readonly fields: readonly string[]
  readonly nullable: readonly string[]
}

const forms = new WeakMap<Schema, Map<FormFacts, Form>>()

/**
 * A form. The schema is projected onto what the revision's clients can show; the answer is checked with the schema itself.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#form-mode-elicitation-requests
 */
export function formQuestion<S extends Schema>(
  revision: Revision,
  message: string,
  schema: S,
): Question<Elicited<OutputOf<S>>> {
  const form = formOf(schema, revision)
  return elicitQuestion(revision, message, form.schema, async (content) => {
    const checked = await schema["~standard"].validate(only(content, form))
    return checked.issues === undefined
      ? { ok: true, value: { action: "accept", content: checked.value as OutputOf<S> } }
      : { ok: false, issues: checked.issues }
  })
}

/** A form as it is sent. `check` looks at what the user filled in; one who did not is no mistake. */
export function elicitQuestion<T>(
  revision: Revision,
  message: string,
  requestedSchema: JsonObject,
  check: (content: JsonObject) => Accepted<T> | Promise<Accepted<T>>,
): Question<T | { readonly action: "decline" | "cancel" }> {
  return {
    method: "elicitation/create",
    params: { ...(revision.form.modes ? { mode: "form" } : {}), message, requestedSchema },
    capability: "elicitation.form",
    accept({ action, content }) {
      if (action === "decline" || action === "cancel") return { ok: true, value: { action } }
      return action === "accept" ? check(isJsonObject(content) ? content : {}) : NO_ACTION
    },
  }
}

/** Projects a schema, once per schema and kind of form. */
function formOf(schema: Schema, revision: Revision): Form {
  const known = forms.get(schema)?.get(revision.form)
  if (known !== undefined) return known
  const form = toForm(inputJsonSchema(schema, "the elicitation schema"), revision)
  const ofSchema = forms.get(schema) ?? new Map<FormFacts, Form>()
  forms.set(schema, ofSchema.set(revision.form, form))
  return form
}

/**
 * The form of a JSON Schema.
 *
 * @throws `McpError` of kind `misuse` for a schema that no client can show, `ToolError` for one that only newer ones can.
 */
export function toForm(json: JsonObject, revision: Revision): Form {
  const projected = projectForm(json, revision.form)
  if (projected.ok) {
    const { schema, nullable } = projected
    return { schema, fields: Object.keys(schema["properties"] as JsonObject), nullable }
  }
  const { property, problem, newer } = projected
  const what = property === "" ? "it" : `property "${property}"`
  const text = `the elicitation schema cannot be shown as a form: ${what} ${problem}`
  throw newer ? new ToolError(text) : misuse("invalid_schema", text)
}

/** The fields of an answer, and nothing else. A field that may be null and was left empty is null. */
function only(content: JsonObject, { fields, nullable }: Form): JsonObject {
  const kept: Record<string, JsonValue> = {}
  for (const name of fields) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined
    if (value !== undefined) kept[name] = value
    else if (nullable.includes(name)) kept[name] = null
  }
  return kept
}

/** A page that the user is sent to. `isDone` says whether what happens there has happened. */
export function urlQuestion(
  revision: Revision,
  message: string,
  url: string,
  id: string,
  isDone: ((id: string) => boolean | Promise<boolean>) | undefined,
): Question<ElicitedUrl> {
  if (!revision.form.modes) {
    throw new ToolError(`clients of revision ${revision.version} cannot be sent to a URL`)
  }
  if (!isWebPage(url)) {
    const expected = "an https: URL (or http: on this machine) without a user name and password"
    throw misuse("invalid_option", `ctx.elicitUrl needs ${expected}, not "${clampText(url)}"`)
  }
  const identified = revision.form.elicitationId ? { elicitationId: id } : {}
  return {
    method: "elicitation/create",
    params: { mode: "url", message, url, ...identified },
    capability: "elicitation.url",
    async accept({ action }): Promise<Accepted<ElicitedUrl>> {
      if (action === "decline" || action === "cancel") return { ok: true, value: { action } }
      if (action !== "accept") return NO_ACTION
      return isDone === undefined || (await isDone(id)) ? { ok: true, value: { action } } : { again: true }
    },
  }
}

const NO_ACTION = malformed('"action" must be accept, decline or cancel')

/** @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling */
function isWebPage(text: string): boolean {
  try {
    const { protocol, hostname, username, password } = new URL(text)
    const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(hostname)
    return username === "" && password === "" && (protocol === "https:" || (protocol === "http:" && isHere))
  } catch {
    return false
  }
}
