/**
 * Questions to the user: a form to fill in, or a page to visit. A page is never opened or fetched here.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { codes } from "../../core/error/codes.js"
import type { McpError } from "../../core/error/error.js"
import { type Form, fillForm, parseForm } from "../../core/feature/form-answer.js"
import { clampText } from "../../core/feature/text.js"
import { hasCapability } from "../../core/model/capability.js"
import { describeIssues } from "../../core/schema/issue.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { FormQuestion, Handlers, UrlQuestion } from "./handlers.js"
import type { Pages } from "./pages.js"
import { type Accepted, accepted, malformed, type Task, undeclared, unusable } from "./task.js"

/** What is needed to read the question. */
export interface ElicitHost {
  readonly handlers: Handlers
  readonly declared: JsonObject
  readonly pages: Pages
}

/** Reads a question to the user. One that names no mode is a form. */
export function readElicitation(params: JsonObject, host: ElicitHost): Task | McpError {
  const { mode = "form", message, _meta: meta } = params
  if (!hasCapability(host.declared, "elicitation")) return undeclared("elicitation/create")
  if (mode !== "form" && mode !== "url") return malformed('"mode" must be "form" or "url"')
  if (!hasCapability(host.declared, `elicitation.${mode}`)) {
    return undeclared(`elicitation/create of mode "${mode}"`, codes.invalidParams)
  }
  if (typeof message !== "string") return malformed('"message" must be a string')
  const common = { message, meta: isJsonObject(meta) ? meta : undefined }
  return mode === "form" ? readForm(params, common, host) : readPage(params, common, host)
}

type Common = Pick<FormQuestion, "message" | "meta">

function readForm({ requestedSchema }: JsonObject, common: Common, { handlers }: ElicitHost): Task | McpError {
  const parsed = parseForm(requestedSchema)
  if (!parsed.ok || !isJsonObject(requestedSchema)) {
    return malformed(`"requestedSchema" ${parsed.ok ? "must be an object" : parsed.problem}`)
  }
  const question: FormQuestion = { mode: "form", schema: requestedSchema, ...common }
  return {
    handler: "elicit",
    ask: (context) => handlers.elicit?.(question, context),
    accept: (answer) => readAnswer(answer, (content) => toContent(parsed.form, content)),
  }
}

function readPage(params: JsonObject, common: Common, { handlers, pages }: ElicitHost): Task | McpError {
  const { url, elicitationId: id } = params
  if (typeof url !== "string" || !isWebPage(url)) {
    return malformed(`"url" must be an http: or https: URL without a user name, not ${clampText(url)}`)
  }
  if (id !== undefined && typeof id !== "string") return malformed('"elicitationId" must be a string')
  const question: UrlQuestion = { mode: "url", url, elicitationId: id, ...common }
  return {
    handler: "elicit",
    ask: (context) => {
      if (id !== undefined) pages.open(id)
      return handlers.elicit?.(question, context)
    },
    accept: (answer) => {
      const read = readAnswer(answer, () => accepted({ action: "accept" }))
      if (id !== undefined && !(read.ok && read.result["action"] === "accept")) pages.forget(id)
      return read
    },
  }
}

/** Only after `accept` there is content. */
function readAnswer(answer: JsonValue, accept: (content: JsonValue | undefined) => Accepted): Accepted {
  const { action, content } = isJsonObject(answer) ? answer : {}
  switch (action) {
    case "accept":
      return accept(content)
    case "decline":
    case "cancel":
      return accepted({ action })
    default:
      return unusable('must answer with an "action" of accept, decline or cancel')
  }
}

function toContent(form: Form, given: JsonValue | undefined): Accepted {
  const content = given ?? {}
  if (!isJsonObject(content)) return unusable('must answer with "content" that is an object')
  const filled = fillForm(form, content)
  if (filled.ok) return accepted({ action: "accept", content: filled.content })
  return unusable(`answered what the form does not allow: ${describeIssues(filled.issues)}`)
}

/** Characters that let a URL look like another one, or that none has. */
const MISLEADING = /[\s\\\p{Cc}\p{Cf}]/u

/** @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling */
function isWebPage(text: string): boolean {
  if (MISLEADING.test(text)) return false
  try {
    const { protocol, username, password } = new URL(text)
    return (protocol === "https:" || protocol === "http:") && username === "" && password === ""
  } catch {
    return false
  }
}
