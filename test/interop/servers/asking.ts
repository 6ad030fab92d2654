/** How our client answers what servers ask. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect } from "vitest"
import { expectNo, type Feature, failure, textOf, use, wherever } from "./feature.js"

/** All of them. */
export const asking: readonly Feature[] = [
  wherever("form", "form", async ({ client, application }, { message, content, told, ...call }) => {
    application.content = [content]
    const result = await use(client, call)
    expect(application.questions.all).toMatchObject([{ mode: "form", message, schema: { type: "object" } }])
    expect(result.isError).toBe(false)
    for (const text of told) expect(textOf(result)).toContain(text)
  }),

  wherever("page to visit", "page", async ({ client, application }, { url, completes, told, ...call }) => {
    const result = await use(client, call)
    expect(application.questions.all).toMatchObject([{ mode: "url", url }])
    expect(textOf(result)).toContain(told)
    const [question] = application.questions.all
    const id = question?.mode === "url" ? question.elicitationId : undefined
    if (completes) await application.finishedPages.until((finished) => finished === id)
  }),

  wherever("page that an error names", "locked", async ({ client, application }, { opener, url, text, ...call }) => {
    const controller = new AbortController()
    // Servers need not say that a page is finished with. The user who knows lets the call go and makes it again.
    application.visit = () => (opener === undefined ? controller.abort() : use(client, opener))
    const { signal } = controller
    const first = client.callTool(call.tool, { ...(call.args as Record<string, string>) }, { signal })
    if (opener === undefined) expect(await failure(first)).toMatchObject({ kind: "cancelled", reason: "aborted" })
    expect(textOf(await (opener === undefined ? use(client, call) : first))).toContain(text)
    expect(application.questions.all[0]).toMatchObject({ mode: "url", url })
  }),

  wherever(
    "two questions, one after the other",
    "rounds",
    async ({ client, application }, { messages, text, ...call }) => {
      application.content = [{ name: "Ada" }, { name: "Grace" }]
      const result = await use(client, call)
      expect(application.questions.all.map(({ message }) => message)).toEqual(messages)
      expect(textOf(result)).toContain(text)
    },
  ),

  wherever("sampling", "sampling", async ({ client, application }, { asked, maxTokens, ...call }) => {
    const result = await use(client, call)
    const content = { type: "text", text: expect.stringMatching(asked) }
    expect(application.samplings.all).toMatchObject([{ messages: [{ role: "user", content }], maxTokens }])
    expect(textOf(result)).toContain("I thought.")
  }),

  wherever("roots", "roots", async ({ client, application }, call) => {
    const [root] = application.roots
    await expect.poll(async () => textOf(await use(client, call)), { timeout: 8_000 }).toContain(placeOf(root?.uri))
  }),

  wherever("roots that became others", "changedRoots", async ({ client, application }, call) => {
    const folder = await mkdtemp(join(tmpdir(), "roots-"))
    const { roots } = application
    try {
      await use(client, call)
      application.roots = [{ uri: pathToFileURL(folder).href, name: "the second" }]
      await client.rootsListChanged()
      await expect.poll(async () => textOf(await use(client, call)), { timeout: 8_000 }).toContain(folder)
    } finally {
      application.roots = roots
      await rm(folder, { recursive: true })
    }
  }),

  wherever("question that was not declared", "undeclared", async ({ connect }, { no, ...call }) => {
    const { client } = await connect({ handlers: {} })
    await expectNo(use(client, call), no)
  }),
]

/** Servers write roots as URIs or as paths. */
function placeOf(uri = ""): string {
  return uri.replace("file://", "")
}
