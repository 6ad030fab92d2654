/** What our client does with the resources, templates, prompts and completions of a server. */
import { expect } from "vitest"
import { type Feature, failure, wherever } from "./feature.js"

/** All of them. */
export const reading: readonly Feature[] = [
  wherever("resources/list", "resources", async ({ client }, uris) => {
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining([...uris]))
  }),

  wherever("resources/templates/list", "templates", async ({ client }, templates) => {
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(templates)
  }),

  wherever("prompts/list", "prompts", async ({ client }, names) => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(names)
  }),

  wherever("a list in pages", "pages", async ({ client, column }, { method, size }) => {
    const first = await client.request(method)
    const [items, all] =
      method === "tools/list"
        ? [first["tools"], (await client.listTools()).tools]
        : [first["resources"], (await client.listResources()).resources]
    expect(first["nextCursor"]).toEqual(expect.any(String))
    expect(items).toHaveLength(size)
    const { tools, resources } = column.has
    expect(all).toHaveLength(method === "tools/list" ? tools.length : resources.length)
  }),

  wherever("a list that is not there", "absent", async ({ client }, { list, code }) => {
    expect(await failure(client[list]())).toMatchObject({ kind: "protocol", reason: "jsonrpc", code })
  }),

  wherever("text resource", "textResource", async ({ client }, { uri, mimeType, text }) => {
    const matcher = typeof text === "string" ? text : expect.stringMatching(text)
    expect((await client.readResource(uri)).contents).toMatchObject([{ uri, mimeType, text: matcher }])
  }),

  wherever("binary resource", "blobResource", async ({ client }, { uri, mimeType, blob }) => {
    const matcher = typeof blob === "string" ? blob : expect.stringMatching(blob)
    expect((await client.readResource(uri)).contents).toMatchObject([{ uri, mimeType, blob: matcher }])
  }),

  wherever("resource of a template", "templateResource", async ({ client }, { uri, text }) => {
    const matcher = typeof text === "string" ? text : expect.stringMatching(text)
    expect((await client.readResource(uri)).contents).toMatchObject([{ uri, text: matcher }])
  }),

  wherever("unknown resource", "unknownResource", async ({ client }, { uri, code }) => {
    expect(await failure(client.readResource(uri))).toMatchObject({ kind: "protocol", reason: "jsonrpc", code })
  }),

  wherever("prompts/get", "prompt", async ({ client }, { name, args, text }) => {
    const { messages } = await client.getPrompt(name, args)
    expect(messages).toMatchObject([{ role: "user", content: { type: "text", text } }])
  }),

  wherever("unknown prompt", "unknownPrompt", async ({ client }, { code }) => {
    expect(await failure(client.getPrompt("no_such_prompt"))).toMatchObject({ kind: "protocol", code })
  }),

  wherever("prompt without its argument", "invalidPrompt", async ({ client }, { name, code }) => {
    expect(await failure(client.getPrompt(name))).toMatchObject({ kind: "protocol", code })
  }),

  wherever(
    "completion of a prompt's argument",
    "promptCompletion",
    async ({ client }, { ref, name, value, values }) => {
      expect((await client.complete(ref, { name, value })).values).toEqual(values)
    },
  ),

  wherever("completion of a template's variable", "templateCompletion", async ({ client }, completion) => {
    const { ref, name, value, values } = completion
    expect((await client.complete(ref, { name, value })).values).toEqual(values)
  }),
]
