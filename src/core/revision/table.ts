/** The revisions that Conduit speaks, and the questions that are asked of the whole table. */
import type { ClientNotice, Era, Operation, Revision } from "./revision.js"
import { v2025_06_18 } from "./v2025-06-18.js"
import { v2025_11_25 } from "./v2025-11-25.js"
import { v2026_07_28 } from "./v2026-07-28.js"

/** Every revision, newest first. */
export const revisions: readonly Revision[] = [v2026_07_28, v2025_11_25, v2025_06_18]

const byVersion: ReadonlyMap<string, Revision> = new Map(revisions.map((revision) => [revision.version, revision]))

/** The revision with this version, or undefined when Conduit does not speak it. */
export function findRevision(version: string): Revision | undefined {
  return byVersion.get(version)
}

/** Revisions that are spoken when a server answers `initialize` with them: never offered, never listed, never served. */
const answers: readonly Revision[] = [
  { ...v2025_06_18, version: "2025-03-26", batches: true },
  { ...v2025_06_18, version: "2024-11-05", batches: true },
]

const byAnswer: ReadonlyMap<string, Revision> = new Map(
  [...revisions.filter((revision) => revision.era === "legacy"), ...answers].map((each) => [each.version, each]),
)

/**
 * The revision in which a client goes on after a server's answer to `initialize`: a legacy one, or one older than those that
 * it offers. Undefined for a version that it does not speak.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 */
export function findAnswered(version: string): Revision | undefined {
  return byAnswer.get(version)
}

function versionsOf(era: Era): readonly string[] {
  return revisions.filter((revision) => revision.era === era).map((revision) => revision.version)
}

/** Every version, newest first: what `server/discover` advertises. */
export const supportedVersions: readonly string[] = revisions.map((revision) => revision.version)

/** The versions of the modern era, newest first. */
export const modernVersions: readonly string[] = versionsOf("modern")

/** The versions of the legacy era, newest first. */
export const legacyVersions: readonly string[] = versionsOf("legacy")

/** The preferred legacy revision: what an `initialize` that asks for anything else is offered. */
export const preferredLegacy: Revision = v2025_11_25

/** The preferred legacy version. */
export const protocolVersion: string = preferredLegacy.version

const FIRST_MODERN = v2026_07_28.version
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

/**
 * The era of a version string: a date on or after 2026-07-28 is modern, an earlier date legacy, anything else unknown.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#terminology
 */
export function era(version: string): Era | "unknown" {
  const known = byVersion.get(version)
  if (known !== undefined) return known.era
  if (!DATE.test(version)) return "unknown"
  return version >= FIRST_MODERN ? "modern" : "legacy"
}

/**
 * Every method that some revision has, requests and notifications of clients alike, with the operation that it is routed to.
 * Derived from the revisions' own tables.
 */
export const methods: Readonly<Record<string, Operation | ClientNotice>> = Object.fromEntries(
  revisions.flatMap((revision) => [
    ...[...revision.methods.values()].map(({ method, operation }) => [method, operation] as const),
    ...revision.notifications,
  ]),
)
