/** How a child ends, by itself or because its client does: what is told, and that nothing of it is left. */
import { readFileSync } from "node:fs"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterEach, describe, expect, it } from "vitest"
import { McpError } from "../../src/core/error/error.js"
import { bundleModule } from "../support/bundle.js"
import { type Child, startScript } from "../support/child.js"
import { createManualClock } from "../support/clock.js"
import { type ChildOptions, dialScript, isRunning, type LinkProbe, openChild, openProbe, pidOf } from "./stdio/link.js"

const node = process.execPath
const probes: LinkProbe[] = []
const pids = new Set<number>()
afterEach(async () => {
  await Promise.all(probes.splice(0).map((probe) => probe.link.close()))
  expect([...pids].filter(isRunning)).toEqual([])
  pids.clear()
  expect(process.listenerCount("exit")).toBe(exitListeners)
})
const exitListeners = process.listenerCount("exit")
/** How many pipes and processes this one holds. */
const handles = (): number => process.getActiveResourcesInfo().filter((name) => /Pipe|Process/.test(name)).length
const handlesBefore = handles()

async function open(script: string, options?: ChildOptions): Promise<LinkProbe> {
  const probe = await openChild(script, options)
  probes.push(probe)
  pids.add(await pidOf(probe))
  return probe
}

/** What a child with hands on its end writes to stderr. */
const STUBBORN = `
  setInterval(() => {}, 1_000)
  process.stdin.on("end", () => fs.writeSync(2, "end of input\\n")).resume()
  process.on("SIGTERM", () => fs.writeSync(2, "SIGTERM\\n"))
`

/** A list of lines that can be waited for. */
class Lines {
  readonly all: string[] = []
  #look = (): void => {}

  readonly hear = (line: string): void => {
    this.all.push(line)
    this.#look()
  }

  until(...expected: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (expected.every((line) => this.all.includes(line))) resolve()
      }
      this.#look()
    })
  }
}

describe("close()", () => {
  it("closes the input, and is done when the process is: no signal is sent", async () => {
    const said = new Lines()
    const clock = createManualClock()
    const probe = await open(
      `process.stdin.on("end", () => fs.writeSync(2, "end of input\\n")).resume()
       process.on("SIGTERM", () => fs.writeSync(2, "SIGTERM\\n"))
       process.on("exit", (code) => fs.writeSync(2, "exit " + code + "\\n"))`,
      { stderr: said.hear, clock },
    )
    const pid = await pidOf(probe)
    await probe.link.close()
    expect(isRunning(pid)).toBe(false)
    expect(said.all).toEqual(["end of input", "exit 0"])
    expect(clock.waiting).toBe(0)
    expect(probe.goneErrors).toEqual([])
  })

  it("signals SIGTERM to a process that goes on after the end of its input", async () => {
    const said = new Lines()
    const clock = createManualClock()
    const probe = await open(`${STUBBORN}; process.on("SIGTERM", () => process.exit(0))`, {
      stderr: said.hear,
      clock,
      limits: { exitMs: 700 },
    })
    const closing = probe.link.close()
    await said.until("end of input")
    clock.advance(699)
    expect(isRunning(await pidOf(probe))).toBe(true)
    clock.advance(1)
    await closing
    expect(said.all).toEqual(["end of input", "SIGTERM"])
    expect(clock.waiting).toBe(0)
  })

  it("kills a process that ignores that, too, and is bounded by three times exitMs", async () => {
    const said = new Lines()
    const clock = createManualClock()
    const probe = await open(STUBBORN, { stderr: said.hear, clock, limits: { exitMs: 700 } })
    const pid = await pidOf(probe)
    const closing = probe.link.close()
    await said.until("end of input")
    clock.advance(700)
    await said.until("SIGTERM")
    expect(isRunning(pid)).toBe(true)
    clock.advance(700)
    await closing
    expect(isRunning(pid)).toBe(false)
    expect(clock.waiting).toBe(0)
  })

  it("is the same however often it is called, and leaves no handle, timer or listener", async () => {
    const probe = await open("heard(answer)")
    const other = await open("heard(answer)")
    expect(process.listenerCount("exit")).toBe(exitListeners + 1)
    const outcome = probe.request(1)
    const closing = probe.link.close()
    expect(probe.link.close()).toBe(closing)
    await closing
    expect(await outcome).toMatchObject({ kind: "gone", error: { reason: "pipe_closed" } })
    expect(process.listenerCount("exit")).toBe(exitListeners + 1)
    await other.link.close()
    await until(() => handles() === handlesBefore)
  })

  it("right after open() leaves nothing either", async () => {
    const link = dialScript("heard(answer)")
    const opening = link.open({ message() {}, gone() {}, noise() {} })
    await link.close()
    await opening
    expect(process.listenerCount("exit")).toBe(exitListeners)
  })

  it("before open() is done at once", async () => {
    await dialScript("heard(answer)").close()
  })

  it("still sends what was given before", async () => {
    const said = new Lines()
    const probe = await open(`heard(({ method }) => fs.writeSync(2, method + "\\n"))`, { stderr: said.hear })
    await probe.link.send('{"jsonrpc":"2.0","method":"last words"}', undefined)
    await probe.link.close()
    expect(said.all).toEqual(["last words"])
  })
})

/** A shell that starts a node and stays or goes; what it started says its own process id. */
function openWrapped(shell: string, script: string, options: ChildOptions = {}): Promise<LinkProbe> {
  const grandchild = `process.stdout.write(JSON.stringify({ jsonrpc: "2.0", method: "started", params: { pid: process.pid } }) + "\\n"); const fs = require("node:fs"); ${script}`
  return open("", { command: "sh", args: ["-c", shell, "sh", node, grandchild], ...options })
}

describe("what a child started", () => {
  it("ends with it, even when it ignores everything but SIGKILL", async () => {
    const said = new Lines()
    const clock = createManualClock()
    const probe = await openWrapped('"$1" -e "$2" & echo "wrapper $$" >&2; wait', STUBBORN, {
      stderr: said.hear,
      clock,
    })
    await said.until("end of input")
    const wrapper = Number(said.all.find((line) => line.startsWith("wrapper"))?.slice(8))
    pids.add(wrapper)
    expect([isRunning(wrapper), isRunning(await pidOf(probe))]).toEqual([true, true])
    const closing = probe.link.close()
    clock.advance(2_000)
    await said.until("SIGTERM")
    clock.advance(2_000)
    await closing
    expect([isRunning(wrapper), isRunning(await pidOf(probe))]).toEqual([false, false])
  })

  it("ends with the client when only the wrapper had ended", async () => {
    const clock = createManualClock()
    const probe = await openWrapped('"$1" -e "$2" <&0 & exit 7', "setInterval(() => {}, 1_000)", { clock })
    const pid = await pidOf(probe)
    const outcome = probe.request(1)
    await until(() => clock.waiting > 0)
    expect(probe.goneErrors).toEqual([])
    clock.advance(500)
    const error = await probe.gone
    expect(error).toMatchObject({ kind: "connection_down", reason: "process_exited", data: { exitCode: 7 } })
    expect(await outcome).toEqual({ kind: "gone", error })
    expect(isRunning(pid)).toBe(true)
    const closing = probe.link.close()
    clock.advance(2_000)
    await closing
    expect(isRunning(pid)).toBe(false)
    expect(clock.waiting).toBe(0)
  })

  it("ends by itself when nobody closes the link of a wrapper that is gone", async () => {
    const clock = createManualClock()
    const probe = await openWrapped('"$1" -e "$2" <&0 & exit 0', "setInterval(() => {}, 1_000)", { clock })
    const pid = await pidOf(probe)
    await until(() => clock.waiting > 0)
    clock.advance(500)
    await probe.gone
    clock.advance(2_000)
    await until(() => !isRunning(pid))
  })

  it("may hold on to no pipe and ends all the same", async () => {
    const folder = await mkdtemp(join(tmpdir(), "conduit-test-"))
    const file = join(folder, "pid")
    const clock = createManualClock()
    const probe = await open("", {
      command: "sh",
      args: ["-c", `sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > "$1"; ${STARTED}; cat >/dev/null`, "sh", file],
      clock,
    })
    const pid = Number(readFileSync(file, "utf8"))
    const closing = probe.link.close()
    await until(() => !isRunning([...pids][0] ?? 0))
    expect(isRunning(pid)).toBe(true)
    clock.advance(2_000)
    await closing
    expect(isRunning(pid)).toBe(false)
    await rm(folder, { recursive: true })
  })
})

describe("a process that has ended and that nobody collects", () => {
  it("is not waited for", async () => {
    const clock = createManualClock()
    const said = new Lines()
    // The shell leaves the group without having collected `true`, which stays there.
    const orphan = 'sh -c "true & exec setsid sleep 1000 </dev/null >/dev/null 2>&1" &'
    const probe = await open("", {
      command: "sh",
      args: ["-c", `${orphan} echo $! >&2; ${STARTED}; cat >/dev/null`],
      clock,
      stderr: said.hear,
    })
    const leader = await pidOf(probe)
    await until(() => said.all.length > 0)
    const parent = Number(said.all[0])
    try {
      await until(() => groupOf(parent) === parent)
      await probe.link.close()
      expect(clock.waiting).toBe(0)
      expect(() => process.kill(-leader, 0)).not.toThrow()
    } finally {
      process.kill(parent, "SIGKILL")
    }
  })
})

/** The process group of a process. */
function groupOf(pid: number): number {
  return Number(/\) . \d+ (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1])
}

/** What a shell says when it has started. */
const STARTED = `echo '{"jsonrpc":"2.0","method":"started","params":{"pid":'$$'}}'`

/** Resolves once something holds that nothing tells of. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe("a process that ends while the link is open", () => {
  it.each([
    ["exits", "process.exit(3)", "exited with code 3", { exitCode: 3, signal: null }],
    ["exits with 0", "process.exit(0)", "exited with code 0", { exitCode: 0, signal: null }],
    [
      "is killed",
      'process.kill(process.pid, "SIGKILL")',
      "was ended by SIGKILL",
      { exitCode: null, signal: "SIGKILL" },
    ],
  ])("%s: every request hears how, with the last lines of its stderr", async (_, script, how, data) => {
    const probe = await open(
      `heard(({ id }) => { if (id === 2) { for (let n = 1; n <= 30; n++) fs.writeSync(2, "line " + n + "\\n"); ${script} } })`,
      { limits: { stderrLines: 2 } },
    )
    const outcomes = Promise.all([probe.request(1), probe.request(2)])
    const error = await probe.gone
    expect(error.message).toBe(`${node} ${how}; the last of its stderr:\n  line 29\n  line 30`)
    expect(error).toMatchObject({ kind: "connection_down", reason: "process_exited", retryable: true })
    expect(error.data).toEqual({ ...data, stderr: ["line 29", "line 30"] })
    expect(await outcomes).toEqual([
      { kind: "gone", error },
      { kind: "gone", error },
    ])
    expect(await probe.request(3)).toEqual({ kind: "gone", error })
    await expect(probe.link.send("{}", undefined)).rejects.toBe(error)
    expect(probe.goneErrors).toHaveLength(1)
  })

  it("says no more of its stderr than there is", async () => {
    const probe = await open("process.exit(1)")
    expect((await probe.gone).message).toBe(`${node} exited with code 1`)
    const inherited = await open("process.exit(1)", { stderr: "inherit" })
    expect((await inherited.gone).data).toEqual({ exitCode: 1, signal: null, stderr: [] })
  })

  it("can be followed by a fresh one from the same dialer", async () => {
    const script = "heard((message) => message.method === 'server/discover' ? process.exit(1) : answer(message))"
    const first = await open(script)
    expect(await first.request(1, "server/discover")).toMatchObject({ kind: "gone", error: { data: { exitCode: 1 } } })
    const second = await open(script)
    expect(await second.request(1, "initialize")).toMatchObject({ kind: "message", message: { id: 1, result: {} } })
  })

  it("may be closed by whoever hears of it", async () => {
    const link = dialScript("process.exit(1)")
    let closed: Promise<void> | undefined
    await new Promise<void>((resolve) => {
      void link.open({
        message() {},
        noise() {},
        gone() {
          closed = link.close()
          resolve()
        },
      })
    })
    await closed
  })
})

describe("a pipe that breaks while its process goes on", () => {
  it.each([
    ["closed its output", "process.on('SIGUSR2', () => fs.closeSync(1))"],
    ["does not read its input any more", "process.on('SIGUSR2', () => { fs.closeSync(0); say({ method: 'deaf' }) })"],
  ])("is told (%s), and the process is brought to an end", async (what, script) => {
    const clock = createManualClock()
    const said = new Lines()
    const probe = await open(`${script}; setInterval(() => {}, 1_000); say({ method: "ready" })`, {
      clock,
      stderr: said.hear,
    })
    const pid = await pidOf(probe)
    await probe.until(() => probe.messages[1])
    process.kill(pid, "SIGUSR2")
    if (what !== "closed its output") await probe.until(() => probe.messages[2])
    const outcome = probe.request(1)
    await until(() => clock.waiting > 0)
    clock.advance(500)
    const error = await probe.gone
    expect(error).toMatchObject({ kind: "connection_down", reason: "pipe_closed", message: `${node} ${what}` })
    expect(await outcome).toEqual({ kind: "gone", error })
    clock.advance(2_000)
    await probe.link.close()
    expect(isRunning(pid)).toBe(false)
  })
})

describe("a command that does not start", () => {
  const refusal = async (options: ChildOptions): Promise<McpError> => {
    const link = dialScript("", options)
    const error: unknown = await openProbe(link).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    await link.close()
    if (!McpError.is(error)) throw new Error(`no McpError: ${inspect(error)}`)
    return error
  }

  it("is named, with what to check, and without its arguments and variables", async () => {
    const secrets = { args: ["--token=hush-hush"], env: { TOKEN: "hush-hush" } }
    const folder = await mkdtemp(join(tmpdir(), "conduit-test-"))
    const plain = join(folder, "plain.txt")
    await writeFile(plain, "no program")
    await chmod(plain, 0o600)
    const cases: readonly (readonly [ChildOptions, RegExp])[] = [
      [
        { command: "no-such-program" },
        /^cannot start no-such-program: it was not found: check its name, that it is installed, and that it is in the PATH of `env` \(ENOENT\)$/,
      ],
      [{ command: plain }, /^cannot start .*plain\.txt: it may not be run: .* \(EACCES\)$/],
      [
        { command: node, cwd: join(folder, "nowhere") },
        /^cannot start .*: there is no folder .*nowhere \(cwd\) \(ENOENT\)$/,
      ],
      [
        { command: node, args: ["a\0hush-hush"] },
        /^cannot start .*: an argument or a variable holds a null byte \(ERR_INVALID_ARG_VALUE\)$/,
      ],
    ]
    for (const [options, text] of cases) {
      const error = await refusal({ ...secrets, ...options })
      expect(error).toMatchObject({ kind: "transport", reason: "cannot_spawn" })
      expect(error.message).toMatch(text)
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain("hush")
      expect(JSON.stringify(error)).not.toContain("hush")
    }
    await rm(folder, { recursive: true })
  })

  it.each([
    ["an empty command", { command: "" }],
    ["arguments that are no list", { args: "--flag" }],
    ["arguments that are no texts", { args: [1] }],
    ["an unknown way with stderr", { stderr: "ignore" }],
  ])("is refused as misuse when it is made of %s", (_, options) => {
    expect(() => dialScript("", options as unknown as ChildOptions)).toThrow(
      expect.objectContaining({ kind: "misuse", reason: "invalid_option" }),
    )
  })
})

describe("a client that ends without close()", () => {
  const running: Child[] = []
  afterEach(() => {
    for (const child of running.splice(0)) child.process.kill("SIGKILL")
  })

  it.each([
    ["exits", 0],
    ["fails", 1],
  ])("%s and leaves no process behind, nor what those started", async (how, code) => {
    const parent = await bundleModule(join(import.meta.dirname, "stdio", "careless.ts"))
    const child = startScript(parent.path, {}, [how])
    running.push(child)
    await child.printing(/\n/)
    const [line = ""] = child.printed.stdout.split("\n")
    const started = line.split(" ").map(Number)
    expect(started).toHaveLength(4)
    expect(await child.ended).toBe(code)
    await until(() => !started.some(isRunning))
    await parent.remove()
  })
})
