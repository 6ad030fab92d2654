/** One field of a form: a JSON Schema projected onto what the negotiated revision's clients can show. */
import type { FormFacts, FormField } from "../model/elicitation.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"

/** Why clients of some revisions cannot show a field that those of others can. */
export const LISTS_ARE_NEWER = "is a list of choices, which clients of this revision cannot show"
const LABELS = ["title", "description"] as const
const TEXT_FORMATS: readonly JsonValue[] = ["email", "uri", "date", "date-time"]

/** What is sent of one field, or why it cannot be shown. */
export function projectField(field: JsonObject, facts: FormFacts): FormField | string {
  const choices = choicesOf(field)
  if (choices !== undefined) return projectChoice(field, choices, facts)
  switch (field["type"]) {
    case "string": {
      const format = TEXT_FORMATS.includes(field["format"] ?? null) ? { format: field["format"] } : {}
      return {
        type: "string",
        ...pick(field, ...LABELS, "minLength", "maxLength"),
        ...format,
        ...initial(field, facts, "string"),
      }
    }
    case "number":
    case "integer":
      return {
        type: field["type"],
        ...pick(field, ...LABELS),
        ...bounds(field),
        ...initial(field, facts, "number"),
      }
    case "boolean":
      return { type: "boolean", ...pick(field, ...LABELS), ...initial(field, facts, "boolean") }
    case "array":
      return projectList(field, facts)
    default:
      return "is not a text, number, boolean or choice: forms have no nested objects and no unions"
  }
}

/** One choice of an enum, with the title that is shown for it. */
interface Choice {
  readonly value: string
  readonly title: string | undefined
}

/** The choices of a field that is an enum of texts in any of the ways in which libraries write it. */
function choicesOf(field: JsonObject): readonly Choice[] | undefined {
  const { enum: values, enumNames: names, oneOf, anyOf, const: only } = field
  if (typeof only === "string") return [{ value: only, title: undefined }]
  if (Array.isArray(values)) {
    const titles: readonly JsonValue[] = Array.isArray(names) ? names : []
    const choices = values.map((value, index) => toChoice(value, titles[index]))
    return choices.every((choice) => choice !== undefined) ? choices : undefined
  }
  const members = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : undefined
  const choices = members?.map((member) =>
    isJsonObject(member) ? toChoice(member["const"], member["title"]) : undefined,
  )
  return choices?.every((choice) => choice !== undefined) ? choices : undefined
}

function toChoice(value: JsonValue | undefined, title: JsonValue | undefined): Choice | undefined {
  return typeof value === "string" ? { value, title: typeof title === "string" ? title : undefined } : undefined
}

function projectChoice(field: JsonObject, choices: readonly Choice[], facts: FormFacts): FormField {
  return {
    type: "string",
    ...pick(field, ...LABELS),
    ...writeChoices(choices, namesAside(field, facts), "oneOf"),
    ...initial(field, facts, "string"),
  }
}

/** Whether titles stand beside the values: where the revision knows no other way, or the schema is written like that. */
function namesAside(field: JsonObject, facts: FormFacts): boolean {
  return facts.titledEnums === "enumNames" || Array.isArray(field["enumNames"])
}

function writeChoices(choices: readonly Choice[], aside: boolean, titled: "oneOf" | "anyOf"): FormField {
  const values = choices.map((choice) => choice.value)
  if (choices.every((choice) => choice.title === undefined)) return { enum: values }
  const titles = choices.map((choice) => choice.title ?? choice.value)
  if (aside) return { enum: values, enumNames: titles }
  return { [titled]: choices.map(({ value, title }) => ({ const: value, title: title ?? value })) }
}

function projectList(field: JsonObject, facts: FormFacts): FormField | string {
  const { items, default: chosen } = field
  const choices = isJsonObject(items) ? choicesOf(items) : undefined
  if (choices === undefined) return "is a list of something else than choices between texts"
  if (!facts.lists) return LISTS_ARE_NEWER
  const written = writeChoices(choices, false, "anyOf")
  return {
    type: "array",
    ...pick(field, ...LABELS, "minItems", "maxItems"),
    items: "enum" in written ? { type: "string", ...written } : written,
    ...(Array.isArray(chosen) ? { default: chosen } : {}),
  }
}

/** The bounds of a number, without those that only say that JavaScript holds it exactly. */
function bounds({ minimum, maximum }: JsonObject): FormField {
  return {
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  }
}

/** What the field shows at first, where the revision lets a field of this type say so. */
function initial({ default: value }: JsonObject, facts: FormFacts, type: "string" | "number" | "boolean"): FormField {
  return typeof value === type && (facts.defaults === "all" || type === facts.defaults) ? { default: value } : {}
}

function pick(field: JsonObject, ...names: readonly string[]): FormField {
  const picked: Record<string, JsonValue> = {}
  for (const name of names) {
    const value = Object.hasOwn(field, name) ? field[name] : undefined
    if (value !== undefined) picked[name] = value
  }
  return picked
}
