/** Builds the package once before the tests, which reach it by its own name and so through `dist/`. */
import { spawnSync } from "node:child_process"

/**
 * Runs the build. Type errors are shown but stop no test: the compiler emits all the same, and `npm run check` is what
 * refuses them.
 */
export function setup(): void {
  const { error } = spawnSync("npx", ["--no-install", "tsc", "-b"], { stdio: ["ignore", "inherit", "inherit"] })
  if (error !== undefined) throw error
}
