/** Resources: fixed ones, templates for many, text and bytes, and what becomes of a uri that leads nowhere. */
import { contents, createServer, resource, resourceTemplate } from "conduit-mcp"

/** A string is text. The reader runs on every read. */
const motd = resource("note:///today", { name: "today", mimeType: "text/plain" }, () => "Drink more water.")

/** Bytes are sent as base64. */
const icon = resource("note:///icon.bin", { name: "icon", mimeType: "application/octet-stream", size: 4 }, () =>
  Uint8Array.of(1, 2, 3, 255),
)

/** Any other JSON value is sent as JSON text. */
const settings = resource("note:///settings", { name: "settings" }, () => ({ color: "green", size: 3 }))

/** Several contents under one uri, each with a uri and a type of its own. */
const folder = resource("note:///folder", { name: "folder" }, () =>
  contents([
    { uri: "note:///folder/a.txt", mimeType: "text/plain", text: "a" },
    { uri: "note:///folder/b.bin", mimeType: "application/octet-stream", blob: Uint8Array.of(98) },
  ]),
)

const people: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ada: { mail: "ada@example.com", city: "London" },
  grace: { mail: "grace@example.com", city: "New York" },
}

/**
 * Many resources behind one template. Variables are decoded and typed by the template; undefined is "not found". A completer
 * sees what was filled in before.
 */
const field = resourceTemplate(
  "people://{name}/{field}",
  {
    name: "field",
    description: "One field of a person",
    mimeType: "text/plain",
    complete: {
      name: (typed) => Object.keys(people).filter((name) => name.startsWith(typed)),
      field: (typed, ctx) => {
        const person = people[ctx.arguments["name"] ?? ""] ?? {}
        return Object.keys(person).filter((key) => key.startsWith(typed))
      },
    },
  },
  ({ name, field: key }) => people[name]?.[key],
)

/** What a query leaves out is undefined, whatever order it comes in; `*` makes a list of the values. */
const search = resourceTemplate("search://people{?q*}", { name: "search" }, ({ q = [] }) => ({
  found: Object.keys(people).filter((name) => q.some((part) => name.includes(part))),
}))

export const server = createServer({
  name: "resources",
  version: "1.0.0",
  resources: [motd, icon, settings, folder, field, search],
})
