/** The process group that a child leads: everything that it started and that did not leave on its own. */
import { readdirSync, readFileSync } from "node:fs"
import { killTree } from "./spawn.js"

/** Signals a group; on Windows, which has neither, it ends the processes below a process, whatever the signal. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (process.platform === "win32") killTree(leader)
    else process.kill(-leader, signal)
  } catch {
    // Nobody is left, or nobody who may be signalled.
  }
}

/** Whether a process of a group still runs. On Windows that is not known once its first one has ended: false. */
export function isGroupAlive(leader: number): boolean {
  if (process.platform === "win32") return false
  try {
    process.kill(-leader, 0)
  } catch {
    return false
  }
  return process.platform !== "linux" || !isUnreaped(leader)
}

/** Whether a group consists of ended processes that nobody has collected, as in containers whose first process does not. */
function isUnreaped(group: number): boolean {
  const states = listProcesses().flatMap((pid) => {
    const [state, , of] = readStat(pid)
    return Number(of) === group ? state : []
  })
  return states.length > 0 && states.every((state) => state === "Z" || state === "X")
}

function listProcesses(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/**
 * The fields of a process from its state on; empty when it has ended.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function readStat(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

const guarded = new Set<number>()

/** Kills a group when this process ends without having closed it. Answers the function that lets it go. */
export function guardGroup(leader: number): () => void {
  if (guarded.size === 0) process.on("exit", killAll)
  guarded.add(leader)
  return () => {
    guarded.delete(leader)
    if (guarded.size === 0) process.off("exit", killAll)
  }
}

function killAll(): void {
  for (const leader of guarded) signalGroup(leader, "SIGKILL")
}
