/** What one requirement is: a rule in one sentence, where it comes from, and what shows that it holds. */

/** A rule and its evidence. */
interface Rule {
  /** A slug that no other requirement has. */
  readonly id: string
  /** The rule, in one sentence. */
  readonly rule: string
  /** Where the specification says so. */
  readonly spec?: string
}

/** A rule that tests hold: `file: name` each, the file below `test/`, the name of a test or of a row of a table of them. */
export interface Tested extends Rule {
  readonly tests: readonly [string, ...string[]]
}

/** A rule about something that is not built yet. */
export interface Later extends Rule {
  readonly later: string
}

/** A rule that only the author of a server can keep; what the library does for that. */
export interface Authors extends Rule {
  readonly author: string
}

export type Requirement = Tested | Later | Authors

/** A page of the specification of 2026-07-28. */
export const modern = (page: string): string => `https://modelcontextprotocol.io/specification/2026-07-28/${page}`

/** A page of the specification of 2025-11-25. */
export const legacy = (page: string): string => `https://modelcontextprotocol.io/specification/2025-11-25/${page}`
