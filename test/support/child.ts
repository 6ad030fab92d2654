/** A script in a process of its own, with its pipes in the test's hands. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"

/** A running script. */
export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** What it printed so far. */
  readonly printed: { stdout: string; stderr: string }
  /** Resolves with what it printed to stdout once that matches. Rejects when the process ends before. */
  printing(pattern: RegExp): Promise<string>
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
}

/** Starts `node <path> <args>`. */
export function startScript(path: string, env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): Child {
  const child = spawn(process.execPath, [path, ...args], { env: { ...process.env, ...env } })
  const printed = { stdout: "", stderr: "" }
  const waiting = new Set<() => void>()
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    printed.stdout += chunk
    for (const look of waiting) look()
  })
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    printed.stderr += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return {
    process: child,
    printed,
    ended,
    printing: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(printed.stdout)) return
          waiting.delete(look)
          resolve(printed.stdout)
        }
        waiting.add(look)
        void ended.then((code) =>
          reject(new Error(`ended with ${code} before it printed ${pattern}: ${printed.stderr}`)),
        )
        look()
      }),
  }
}
