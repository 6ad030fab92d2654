/** Starts and ends child processes. Nothing else in the package does. */
import type { ChildProcess } from "node:child_process"
import spawn from "cross-spawn"

/** What is needed to start a child. */
export interface SpawnOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  /** Whether its stderr is this process's. */
  readonly inheritsStderr: boolean
}

/**
 * Starts a child without a shell: what is in `args` reaches it as it is. On POSIX it leads a process group of its own, so that
 * what it starts can be ended with it. Scripts of Windows (`npx.cmd`) are found and quoted for `cmd.exe`.
 */
export function spawnChild({ command, args, env, cwd, inheritsStderr }: SpawnOptions): ChildProcess {
  return spawn(command, args, {
    env,
    cwd,
    stdio: ["pipe", "pipe", inheritsStderr ? "inherit" : "pipe"],
    shell: false,
    windowsHide: true,
    detached: process.platform !== "win32",
  })
}

/** Ends a process of Windows and everything below it. */
export function killTree(pid: number): void {
  spawn.sync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true })
}
