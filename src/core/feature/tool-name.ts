/** Which names a tool may have: by the specification, and by the providers of language models, who allow less. */

const MAX_LENGTH = 128

/** What somebody refuses about a tool's name. */
export interface ProviderNameProblem {
  readonly provider: string
  readonly problem: string
}

/** What each provider accepts as the name of a function. */
const PROVIDERS = [
  { provider: "anthropic", pattern: /^[a-zA-Z0-9_-]{1,64}$/ },
  { provider: "openai", pattern: /^[a-zA-Z0-9_-]{1,64}$/ },
  { provider: "google", pattern: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/ },
] as const

/**
 * Whether a tool's name is as the specification recommends: 1 to 128 ASCII letters, digits, `_`, `-` and `.`. A name that is
 * not is served all the same.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
 */
export function checkToolName(name: string): { readonly ok: true } | { readonly ok: false; readonly problem: string } {
  if (name === "") return { ok: false, problem: "a tool name should not be empty" }
  if (name.length > MAX_LENGTH)
    return { ok: false, problem: `a tool name should have at most ${MAX_LENGTH} characters` }
  if (/^[A-Za-z0-9_.-]+$/.test(name)) return { ok: true }
  return { ok: false, problem: "a tool name should only have ASCII letters, digits, underscore, hyphen and dot" }
}

/** The providers that refuse a function of this name, each with the pattern that it asks for. */
export function providerNameProblems(name: string): readonly ProviderNameProblem[] {
  return PROVIDERS.filter(({ pattern }) => !pattern.test(name)).map(({ provider, pattern }) => ({
    provider,
    problem: `${provider} accepts ${pattern.source} only`,
  }))
}
