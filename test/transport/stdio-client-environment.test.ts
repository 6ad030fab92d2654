/** What a child sees of its client's environment: what programs need to run and what was asked for, and no secret. */
import { afterEach, describe, expect, it, vi } from "vitest"
import { childEnvironment, type EnvironmentOptions } from "../../src/transport/stdio/environment.js"
import { type ChildOptions, openChild } from "./stdio/link.js"

type Variables = Readonly<Record<string, string | undefined>>

const posix: Variables = {
  HOME: "/somewhere/a",
  LANG: "C.UTF-8",
  LC_ALL: "C",
  LC_CTYPE: "C",
  LOGNAME: "a",
  PATH: "/bin",
  SHELL: "/bin/sh",
  TERM: "xterm",
  TMPDIR: "/tmp",
  TZ: "UTC",
  USER: "a",
}
const windows: Variables = {
  AppData: "1",
  ComSpec: "2",
  HOMEDRIVE: "3",
  HOMEPATH: "4",
  LOCALAPPDATA: "5",
  Path: "6",
  PATHEXT: "7",
  PROCESSOR_ARCHITECTURE: "8",
  ProgramData: "9",
  ProgramFiles: "10",
  "ProgramFiles(x86)": "11",
  SystemDrive: "12",
  SystemRoot: "13",
  TEMP: "14",
  TMP: "15",
  USERNAME: "16",
  USERPROFILE: "17",
  windir: "18",
}
const secrets: Variables = {
  AWS_SECRET_ACCESS_KEY: "s",
  HTTP_PROXY: "http://user:s@proxy",
  NODE_OPTIONS: "--require ./s.js",
  SSH_AUTH_SOCK: "/s",
  path: "/s",
  UNDEFINED: undefined,
}

describe("the environment of a child", () => {
  it.each<[string, string, Variables, EnvironmentOptions, Variables]>([
    ["is the safe set", "linux", { ...posix, ...secrets }, {}, posix],
    ["is the safe set, on a Mac", "darwin", { ...posix, ...secrets }, {}, posix],
    ["is the safe set of Windows, in whatever case", "win32", { ...windows, SECRET: "s", HOME: "s" }, {}, windows],
    [
      "has what is given over it",
      "linux",
      posix,
      { env: { A: "1", PATH: "/own" } },
      { ...posix, A: "1", PATH: "/own" },
    ],
    [
      "has not what is given as undefined",
      "linux",
      { PATH: "/bin", TZ: "UTC" },
      { env: { TZ: undefined } },
      { PATH: "/bin" },
    ],
    ["has a variable once on Windows", "win32", { Path: "a" }, { env: { PATH: "b" } }, { PATH: "b" }],
    [
      "has not what is taken away on Windows",
      "win32",
      { Path: "a", TMP: "b" },
      { env: { PATH: undefined } },
      { TMP: "b" },
    ],
    ["has what is named", "linux", { PATH: "a", B: "b", C: "c" }, { inheritEnv: ["B", "D"] }, { PATH: "a", B: "b" }],
    ["has what is named, in its case", "linux", { B: "b" }, { inheritEnv: ["b"] }, {}],
    ["has what is named, in any case on Windows", "win32", { B: "b" }, { inheritEnv: ["b"] }, { B: "b" }],
    [
      "has everything on demand",
      "linux",
      { PATH: "a", B: "b" },
      { inheritEnv: true, env: { B: "c" } },
      { PATH: "a", B: "c" },
    ],
    ["has nothing more by false", "linux", { PATH: "a", B: "b" }, { inheritEnv: false }, { PATH: "a" }],
    [
      "has no functions of a shell",
      "linux",
      { TERM: "() { s; }", "BASH_FUNC_a%%": "() { s; }" },
      { inheritEnv: true },
      {},
    ],
    ["has what looks like one if it was given", "linux", {}, { env: { A: "()" } }, { A: "()" }],
    ["is what is given where nothing is", "linux", {}, { env: { A: "" } }, { A: "" }],
  ])("%s", (_, platform, parent, options, expected) => {
    expect(childEnvironment(options, parent, platform)).toEqual(expected)
  })
})

describe("a child", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  async function seenBy(options: ChildOptions): Promise<unknown> {
    const probe = await openChild("heard((message) => answer(message, process.env))", options)
    const outcome = await probe.request(1)
    await probe.link.close()
    return outcome.kind === "message" && outcome.message.kind === "result" ? outcome.message.result : outcome
  }

  it("finds its way with its own variables, and sees no secret of its client", async () => {
    vi.stubEnv("SECRET", "s")
    const seen = await seenBy({ command: "node", env: { A: "1" } })
    expect(seen).toMatchObject({ A: "1", PATH: process.env["PATH"] })
    expect(seen).not.toHaveProperty("SECRET")
  })

  it("sees what its client has when it is asked for, as it is when the child starts", async () => {
    vi.stubEnv("SECRET", "s")
    expect(await seenBy({ inheritEnv: ["SECRET"] })).toMatchObject({ SECRET: "s" })
  })

  it("runs where it is told to, with its arguments as they are", async () => {
    const args = [
      "-e",
      `console.log(JSON.stringify({ jsonrpc: "2.0", method: "here", params: { cwd: process.cwd(), args: process.argv.slice(1) } }))`,
    ]
    const odd = ["$HOME", "a b", '"', "'", "`id`", ";", "*", "\\", "", "—☀"]
    const probe = await openChild("", { args: [...args, "--", ...odd], cwd: "/" })
    const message = await probe.until(() => probe.messages[0])
    await probe.link.close()
    expect(message).toMatchObject({ params: { cwd: "/", args: odd } })
  })
})
