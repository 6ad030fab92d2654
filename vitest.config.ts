/** How the tests run: against a fresh build, on two cores, with every stray rejection a failure. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/build.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 10_000,
    hookTimeout: 30_000,
    teardownTimeout: 5_000,
    dangerouslyIgnoreUnhandledErrors: false,
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
  },
})
