/** Questions to the client as values: what is sent, which capability it needs, and what becomes of the answer. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { ClientCapability } from "../../core/model/capability.js"
import { describeIssues } from "../../core/schema/issue.js"
import type { SchemaIssue } from "../../core/schema/standard.js"
import type { JsonObject } from "../../core/wire/message.js"

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

/** An answer that does not even have the members of an answer. */
export function malformed(message: string): Accepted<never> {
  return { ok: false, issues: [{ message }] }
}

/** The error of an answer that does not fit its question. Nothing of it is kept: the question may be answered again. */
export function invalidAnswer(key: string, issues: readonly SchemaIssue[]): McpError {
  return new McpError(`Invalid params: the answer to "${key}" is not valid: ${describeIssues(issues)}`, {
    kind: "validation",
    reason: "invalid_answer",
    code: codes.invalidParams,
    data: { key, issues: issues.map(({ message, path }) => ({ message, path: (path ?? []).map(segment) })) },
  })
}

function segment(part: NonNullable<SchemaIssue["path"]>[number]): string | number {
  const key = typeof part === "object" ? part.key : part
  return typeof key === "number" ? key : String(key)
}
