import { describe, expect, it } from "vitest"
import { hasCapability } from "../../../src/core/model/capability.js"
import { clientCapabilities } from "../../../src/core/negotiate/client-capabilities.js"
import { revisions } from "../../../src/core/revision/table.js"

const handler = (): void => {}

describe("the kinds of question that can be shown", () => {
  it.each<[kinds: readonly ("form" | "url")[] | undefined, modes: boolean, expected: object]>([
    [undefined, true, { elicitation: { form: {}, url: {} } }],
    [["form", "url"], true, { elicitation: { form: {}, url: {} } }],
    [["url", "form"], true, { elicitation: { form: {}, url: {} } }],
    [["form"], true, { elicitation: { form: {} } }],
    [["url"], true, { elicitation: { url: {} } }],
    [[], true, {}],
    [undefined, false, { elicitation: {} }],
    [["form", "url"], false, { elicitation: {} }],
    [["form"], false, { elicitation: {} }],
    [["url"], false, {}],
    [[], false, {}],
  ])("%j, told apart by the revision: %j", (kinds, elicitationModes, expected) => {
    const options = { elicitationModes, ...(kinds === undefined ? {} : { elicitation: kinds }) }
    expect(clientCapabilities({ elicit: handler }, options)).toEqual(expected)
    expect(clientCapabilities({}, options)).toEqual({})
  })

  it("are found again by the server's check, in every revision", () => {
    for (const { form } of revisions) {
      const declared = clientCapabilities({ elicit: handler }, { elicitationModes: form.modes })
      expect(hasCapability(declared, "elicitation.form")).toBe(true)
      expect(hasCapability(declared, "elicitation.url")).toBe(form.modes)
    }
  })
})

describe("extensions", () => {
  it("are declared when there are any, with handlers or without", () => {
    const extensions = { "io.modelcontextprotocol/tasks": {} }
    expect(clientCapabilities(undefined, { extensions })).toEqual({ extensions })
    expect(clientCapabilities({ roots: handler }, { extensions })).toEqual({ roots: {}, extensions })
    expect(clientCapabilities(undefined, { extensions: {} })).toEqual({})
  })
})

it("what is no function answers nothing", () => {
  expect(clientCapabilities({ elicit: null, sample: true, roots: [] })).toEqual({})
})

it("a method of a class is there too", () => {
  class Host {
    roots(): readonly string[] {
      return []
    }
  }
  expect(clientCapabilities(new Host())).toEqual({ roots: {} })
})
