/** The stdio client elsewhere: what Windows is asked to run, and what is said where there are no processes. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { afterAll, describe, expect, it } from "vitest"
import { DEFAULT_CLIENT_LIMITS } from "../../src/client/limits.js"
import { createSystemClock } from "../../src/store/clock.js"
import { createStdioDialer } from "../../src/transport/stdio/no-spawn.js"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "conduit-test-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** What is started on Windows, as far as that can be seen from here: the command and its end, which is not heard of. */
function startedOnWindows(command: string, args: readonly string[], path: string): readonly (readonly unknown[])[] {
  const isMissing = command === "missing"
  const script = `
    const cp = require("node:child_process")
    const { PassThrough } = require("node:stream")
    Object.defineProperty(process, "platform", { value: "win32" })
    const log = (...given) => fs.writeSync(1, JSON.stringify(given) + "\\n")
    cp.spawnSync = (...given) => (log(...given), { status: 0 })
    cp.spawn = (...given) => {
      log(...given)
      const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
      const child = Object.assign(new cp.ChildProcess(), streams, { pid: 4242 })
      process.nextTick(() => child.emit("spawn"))
      if (${isMissing}) setImmediate(() => Object.assign(child, { exitCode: 1 }).emit("exit", 1) && child.emit("close", 1))
      return child
    }
    import(${JSON.stringify(join(root, "dist/transport/stdio/client.js"))}).then(async ({ createStdioDialer }) => {
      const limits = { maxMessageBytes: 1_000, stderrLines: 1, exitMs: 1 }
      const clock = { now: () => 0, after: (_, run) => (setImmediate(run), () => {}) }
      const command = { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} }
      const link = createStdioDialer({ ...command, limits, clock }).dial()
      await link.open({ gone: ({ kind, reason, message }) => log("gone", kind, reason, message) })
      if (!${isMissing}) await link.close()
    })
  `
  const env = { PATH: path, PATHEXT: ".EXE;.cmd", comspec: "C:\\cmd.exe" }
  const lines = execFileSync(process.execPath, ["-e", script], { env, encoding: "utf8" }).trim().split("\n")
  return lines.map((line) => JSON.parse(line))
}

describe("on Windows", () => {
  const bin = join(folder, "node_modules", ".bin")
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(folder, "npx.cmd"), "@echo off")
  writeFileSync(join(folder, "server.EXE"), "MZ")
  writeFileSync(join(folder, "taskkill.EXE"), "MZ")
  writeFileSync(join(bin, "shim.cmd"), "@echo off")

  it("a script such as npx.cmd is found and run by cmd.exe, every argument quoted for it", () => {
    const [[command, args, options] = []] = startedOnWindows("npx", ["-y", "a b", 'say "hi" & calc', "%PATH%"], folder)
    expect(command).toBe("C:\\cmd.exe")
    expect(args).toEqual(["/d", "/s", "/c", '"npx ^"-y^" ^"a^ b^" ^"say^ \\^"hi\\^"^ ^&^ calc^" ^"^%PATH^%^""'])
    expect(options).toMatchObject({ shell: false, windowsHide: true, windowsVerbatimArguments: true, detached: false })
  })

  it("a script that npm has made is quoted twice, because it hands its arguments to cmd.exe again", () => {
    const [[, args] = []] = startedOnWindows("shim", ["a&b"], bin)
    expect(args).toEqual(["/d", "/s", "/c", '"shim ^^^"a^^^&b^^^""'])
  })

  it("a program is run as it is", () => {
    const [[command, args, options] = []] = startedOnWindows("server", ["a b", "&"], folder)
    expect([command, args]).toEqual(["server", ["a b", "&"]])
    expect(options).toMatchObject({ shell: false, windowsHide: true })
    expect(options).not.toHaveProperty("windowsVerbatimArguments")
  })

  it("a command that is not there is told as one that cannot be started, although cmd.exe was", () => {
    const [[command] = [], gone] = startedOnWindows("missing", ["--token=hush"], folder)
    expect(command).toBe("C:\\cmd.exe")
    expect(gone).toEqual([
      "gone",
      "transport",
      "cannot_spawn",
      "cannot start missing: it was not found: check its name, that it is installed, and that it is in the PATH of `env` (ENOENT)",
    ])
  })

  it("what does not end when its input does is ended with everything below it", () => {
    const [, ...ends] = startedOnWindows("server", [], folder)
    expect(ends.length).toBeGreaterThan(0)
    for (const [command, args, options] of ends) {
      expect([command, args]).toEqual(["taskkill", ["/pid", "4242", "/t", "/f"]])
      expect(options).toMatchObject({ windowsHide: true, stdio: "ignore" })
    }
  })
})

describe("where there are no processes", () => {
  it("a command is refused as misuse, with what to do instead", () => {
    const options = { command: "npx", limits: DEFAULT_CLIENT_LIMITS, clock: createSystemClock() }
    expect(() => createStdioDialer(options)).toThrow(
      expect.objectContaining({
        kind: "misuse",
        reason: "not_supported",
        message:
          "a command cannot be started here: this platform has no processes. Connect to a URL, or to a server in the same process",
      }),
    )
  })

  it.each([
    ["browser", ["no-spawn.js"], 4_000],
    ["node", ["client.js", "spawn.js"], 100_000],
  ] as const)("a bundle for %s holds %s", async (platform, files, maxBytes) => {
    const { metafile, outputFiles } = await build({
      stdin: { contents: 'export { createStdioDialer } from "#spawn"', resolveDir: join(root, "dist") },
      bundle: true,
      format: "esm",
      platform,
      minify: true,
      metafile: true,
      write: false,
      logLevel: "silent",
    })
    const inputs = Object.keys(metafile.inputs).filter((path) => path.includes("transport/stdio/"))
    for (const file of files) expect(inputs).toContain(`dist/transport/stdio/${file}`)
    expect(inputs.includes("dist/transport/stdio/no-spawn.js")).toBe(platform === "browser")
    expect(outputFiles[0]?.contents.length).toBeLessThan(maxBytes)
  })
})
