/** Which version two sides speak: from `initialize` on a server, from two lists on a client. */
import type { Revision } from "../revision/revision.js"
import { findRevision, preferredLegacy, supportedVersions } from "../revision/table.js"

/**
 * The version that an `initialize` request gets: the one it asks for when that is a legacy version, otherwise undefined. A
 * modern version is never negotiated by `initialize`.
 */
export function negotiateVersion(asked: unknown): string | undefined {
  return typeof asked === "string" ? negotiateRevision(asked)?.version : undefined
}

function negotiateRevision(asked: string): Revision | undefined {
  const revision = findRevision(asked)
  return revision?.era === "legacy" ? revision : undefined
}

/**
 * The revision that an `initialize` request is answered with: the one asked for, else the preferred legacy one, which the
 * client may refuse.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 */
export function offerRevision(asked: string): Revision {
  return negotiateRevision(asked) ?? preferredLegacy
}

/** Every version that the client speaks, newest first. */
export const clientVersions: readonly string[] = supportedVersions

/** What {@link pickVersion} answers. */
export type PickedVersion =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly reason: "no_common_version" }

/** The first version in the client's order of preference that the server also lists. */
export function pickVersion(
  serverSupported: readonly string[],
  clientSupported: readonly string[] = clientVersions,
): PickedVersion {
  const version = clientSupported.find((candidate) => serverSupported.includes(candidate))
  return version === undefined ? { ok: false, reason: "no_common_version" } : { ok: true, version }
}
