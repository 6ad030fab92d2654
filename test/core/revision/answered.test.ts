import { describe, expect, it } from "vitest"
import { clientVersions, pickVersion } from "../../../src/core/negotiate/version.js"
import {
  era,
  findAnswered,
  findRevision,
  legacyVersions,
  methods,
  modernVersions,
  revisions,
  supportedVersions,
} from "../../../src/core/revision/table.js"

describe("the answers to initialize that a client goes on with", () => {
  it.each<[version: string, isSpoken: boolean, batches: boolean]>([
    ["2025-11-25", true, false],
    ["2025-06-18", true, false],
    ["2025-03-26", true, true],
    ["2024-11-05", true, true],
    ["2026-07-28", false, false],
    ["2024-10-07", false, false],
    ["2025-06-19", false, false],
    ["", false, false],
    ["constructor", false, false],
  ])("%j: %j", (version, isSpoken, batches) => {
    const revision = findAnswered(version)
    expect(revision?.version).toBe(isSpoken ? version : undefined)
    expect(revision?.batches ?? false).toBe(batches)
    if (isSpoken) expect(revision?.era).toBe("legacy")
  })

  it.each(["2025-11-25", "2025-06-18"])("%s is the revision of that version", (version) => {
    expect(findAnswered(version)).toBe(findRevision(version))
  })

  it.each(["2025-03-26", "2024-11-05"])("%s is written and read like 2025-06-18", (version) => {
    const { version: _, batches, ...spoken } = findAnswered(version) ?? {}
    const { version: __, batches: none, ...known } = findRevision("2025-06-18") ?? {}
    expect(spoken).toEqual(known)
    expect([batches, none]).toEqual([true, false])
  })

  it.each(["2025-03-26", "2024-11-05"])("%s is never offered, listed or served", (version) => {
    expect(era(version)).toBe("legacy")
    expect(findRevision(version)).toBeUndefined()
    for (const list of [supportedVersions, legacyVersions, modernVersions, clientVersions]) {
      expect(list).not.toContain(version)
    }
    expect(pickVersion([version])).toEqual({ ok: false, reason: "no_common_version" })
    expect(revisions.map((each) => each.version)).toEqual(supportedVersions)
    expect(Object.keys(methods)).toContain("initialize")
  })
})
