/** The environment of a child: what programs need to run, what was asked for, and no secret that happens to be there. */

/** The part of a command that is about its environment. */
export interface EnvironmentOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly inheritEnv?: boolean | readonly string[]
}

const POSIX = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"]

const WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
]

/**
 * The variables that a child is given: of `parent` the safe ones and those of `inheritEnv`, without functions that a shell has
 * exported, then `env` over them. Names are compared without their case on Windows.
 */
export function childEnvironment(
  { env = {}, inheritEnv = false }: EnvironmentOptions,
  parent: Readonly<Record<string, string | undefined>>,
  platform: string,
): Record<string, string> {
  const isWindows = platform === "win32"
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const named = typeof inheritEnv === "boolean" ? [] : inheritEnv
  const wanted = new Set([...(isWindows ? WINDOWS : POSIX), ...named].map(fold))
  const child = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || value.startsWith("()")) continue
    if (inheritEnv === true || wanted.has(fold(name))) child.set(fold(name), [name, value])
  }
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) child.delete(fold(name))
    else child.set(fold(name), [name, value])
  }
  return Object.fromEntries(child.values())
}
