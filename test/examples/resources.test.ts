/** The story of resources: what is read, what is listed, what completes. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/resources/server.js"
import { ask, eras } from "../support/story.js"

describe.each(eras)("resources, in the %s era", (era) => {
  it.each([
    ["a text", "note:///today", { mimeType: "text/plain", text: "Drink more water." }],
    ["bytes", "note:///icon.bin", { mimeType: "application/octet-stream", blob: "AQID/w==" }],
    ["a value as JSON", "note:///settings", { mimeType: "application/json", text: '{"color":"green","size":3}' }],
    ["a field of a template", "people://ada/mail", { mimeType: "text/plain", text: "ada@example.com" }],
    ["a query of a template", "search://people?q=a&q=c", { text: '{"found":["ada","grace"]}' }],
    ["a template without its query", "search://people", { text: '{"found":[]}' }],
  ])("reads %s", async (_, uri, contents) => {
    const { result } = await ask(server, era, "resources/read", { uri })
    expect(result).toMatchObject({ contents: [{ uri, ...contents }] })
  })

  it("reads several contents under one uri", async () => {
    const { result } = await ask(server, era, "resources/read", { uri: "note:///folder" })
    expect(result).toMatchObject({
      contents: [
        { uri: "note:///folder/a.txt", mimeType: "text/plain", text: "a" },
        { uri: "note:///folder/b.bin", mimeType: "application/octet-stream", blob: "Yg==" },
      ],
    })
  })

  it("answers what is not there with the code of the era", async () => {
    const code = era === "modern" ? -32602 : -32002
    for (const uri of ["note:///nowhere", "people://ada/shoe", "people://nobody/mail"]) {
      const { error } = await ask(server, era, "resources/read", { uri })
      expect(error).toMatchObject({ code, data: { reason: "resource_not_found", uri } })
    }
  })

  it("lists resources and templates", async () => {
    const resources = await ask(server, era, "resources/list")
    expect(resources["result"]).toMatchObject({
      resources: [{ uri: "note:///today" }, { uri: "note:///icon.bin", size: 4 }, {}, { uri: "note:///folder" }],
    })
    const templates = await ask(server, era, "resources/templates/list")
    expect(templates["result"]).toMatchObject({
      resourceTemplates: [{ uriTemplate: "people://{name}/{field}" }, { uriTemplate: "search://people{?q*}" }],
    })
  })

  it.each([
    ["name", "gr", {}, ["grace"]],
    ["field", "", { name: "ada" }, ["mail", "city"]],
    ["field", "", {}, []],
  ])("completes %s from %j, knowing %j", async (name, value, known, values) => {
    const ref = { type: "ref/resource", uri: "people://{name}/{field}" }
    const params = { ref, argument: { name, value }, context: { arguments: known } }
    const { result } = await ask(server, era, "completion/complete", params)
    expect(result).toMatchObject({ completion: { values } })
  })
})
