/** Questions to the client as values: what is sent, which capability it needs, and what becomes of the answer. */
import { McpError, misuse, ToolError } from "../../core/error/error.js"
import { projectForm } from "../../core/feature/form.js"
import type { ClientCapability } from "../../core/model/capability.js"
import type { Elicited, ElicitedUrl } from "../../core/model/elicitation.js"
import { type Root, type SamplingRequest, type SamplingResult, toolResultProblem } from "../../core/model/sampling.js"
import type { Revision } from "../../core/revision/revision.js"
import { describeIssues } from "../../core/schema/issue.js"
import { inputJsonSchema } from "../../core/schema/json-schema.js"
import type { OutputOf, Schema, SchemaIssue } from "../../core/schema/standard.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"

/** What an answer comes to: a value, what is wrong with it, or that the question is to be asked again. */
export type Accepted<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }
  | { readonly again: true }

/** One question. */
export interface Question<T> {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params: JsonObject
  readonly capability: ClientCapability
  accept(answer: JsonObject): Accepted<T> | Promise<Accepted<T>>
}

const wrong = (message: string): Accepted<never> => ({ ok: false, issues: [{ message }] })

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
  const json = inputJsonSchema(schema, "the elicitation schema")
  const projected = projectForm(json, revision.form)
  if (!projected.ok) {
    const text = `the elicitation schema cannot be shown as a form: property "${projected.property}" ${projected.problem}`
    throw projected.newer ? new ToolError(text) : misuse("invalid_schema", text)
  }
  const known = isJsonObject(json["properties"]) ? Object.keys(json["properties"]) : []
  const mode = revision.form.modes ? { mode: "form" } : {}
  return {
    method: "elicitation/create",
    params: { ...mode, message, requestedSchema: projected.schema },
    capability: "elicitation.form",
    async accept(answer) {
      const { action, content } = answer
      if (action === "decline" || action === "cancel") return { ok: true, value: { action } }
      if (action !== "accept") return wrong('"action" must be accept, decline or cancel')
      const given: JsonObject = isJsonObject(content) ? content : {}
      const checked = await schema["~standard"].validate(only(given, known))
      return checked.issues === undefined
        ? { ok: true, value: { action, content: checked.value as OutputOf<S> } }
        : { ok: false, issues: checked.issues }
    },
  }
}

function only(content: JsonObject, known: readonly string[]): JsonObject {
  const kept: Record<string, JsonValue> = {}
  for (const name of known) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/** A page that the user is sent to. `isDone` says whether what happens there has happened. */
export function urlQuestion(
  revision: Revision,
  message: string,
  url: string,
  id: string,
  isDone: (() => boolean | Promise<boolean>) | undefined,
): Question<ElicitedUrl> {
  if (!revision.form.modes) {
    throw new ToolError(`clients of revision ${revision.version} cannot be sent to a URL`)
  }
  if (!isWebUrl(url))
    throw misuse("invalid_option", `elicitUrl needs an https: URL (or http: on this machine), not "${url}"`)
  const identified = revision.form.elicitationId ? { elicitationId: id } : {}
  return {
    method: "elicitation/create",
    params: { mode: "url", message, url, ...identified },
    capability: "elicitation.url",
    async accept({ action }) {
      if (action === "decline" || action === "cancel") return { ok: true, value: { action } }
      if (action !== "accept") return wrong('"action" must be accept, decline or cancel')
      return isDone === undefined || (await isDone()) ? { ok: true, value: { action } } : { again: true }
    },
  }
}

function isWebUrl(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text)
    return protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname))
  } catch {
    return false
  }
}

/** A completion by the client's model. */
export function samplingQuestion(revision: Revision, request: SamplingRequest): Question<SamplingResult> {
  const problem = toolResultProblem(request.messages)
  if (problem !== undefined) throw misuse("invalid_option", `ctx.sample: ${problem}`)
  if (!Number.isSafeInteger(request.maxTokens) || request.maxTokens < 1) {
    throw misuse("invalid_option", "ctx.sample: maxTokens must be a positive integer")
  }
  const usesTools = request.tools !== undefined || request.toolChoice !== undefined || speaksOfTools(request)
  if (usesTools && !revision.samplingTools) {
    throw new ToolError(`clients of revision ${revision.version} cannot be asked to sample with tools`)
  }
  const usesContext = request.includeContext !== undefined && request.includeContext !== "none"
  return {
    method: "sampling/createMessage",
    params: JSON.parse(JSON.stringify(request)) as JsonObject,
    capability: usesTools ? "sampling.tools" : usesContext ? "sampling.context" : "sampling",
    accept: (answer) =>
      isSamplingResult(answer)
        ? { ok: true, value: answer as unknown as SamplingResult }
        : wrong('a sampling result needs "role", "content" and "model"'),
  }
}

function speaksOfTools(request: SamplingRequest): boolean {
  return request.messages.some(({ content }) =>
    [content]
      .flat()
      .some((block) => block.type === "tool_use" || block.type === "tool_result" || Array.isArray(content)),
  )
}

function isSamplingResult(answer: JsonObject): boolean {
  const { role, content, model } = answer
  return (role === "assistant" || role === "user") && typeof model === "string" && typeof content === "object"
}

/** The roots that the client shows. */
export function rootsQuestion(): Question<readonly Root[]> {
  return {
    method: "roots/list",
    params: {},
    capability: "roots",
    accept({ roots }) {
      if (!Array.isArray(roots) || !roots.every(isRoot)) return wrong('"roots" must be a list of objects with a "uri"')
      return { ok: true, value: roots as unknown as readonly Root[] }
    },
  }
}

function isRoot(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value["uri"] === "string"
}

/** The error of an answer that does not fit its question. */
export function invalidAnswer(key: string, issues: readonly SchemaIssue[]): McpError {
  const text = `the answer to "${key}" is not valid: ${describeIssues(issues)}`
  const data = { key, issues: issues.map(({ message, path }) => ({ message, path: (path ?? []).map(segment) })) }
  return new McpError(text, { kind: "validation", reason: "invalid_answer", data })
}

function segment(part: NonNullable<SchemaIssue["path"]>[number]): string | number {
  const key = typeof part === "object" ? part.key : part
  return typeof key === "number" ? key : String(key)
}
