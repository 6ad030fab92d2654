/** Which cells of client, transport and feature ran, and why the others cannot. */
import type { Combination } from "./combination.js"

/** What is known of one cell: that it ran, or why the combination does not have it. */
type Cell = "ran" | { readonly lacks: string }

/** The table, filled while the suite runs. */
export class Table {
  readonly #features: readonly string[]
  readonly #combinations: readonly Combination[]
  readonly #cells = new Map<string, Cell>()

  constructor(features: readonly string[], combinations: readonly Combination[]) {
    this.#features = features
    this.#combinations = combinations
  }

  ran(feature: string, combination: Combination): void {
    this.#cells.set(keyOf(feature, combination), "ran")
  }

  lacks(feature: string, combination: Combination, reason: string): void {
    this.#cells.set(keyOf(feature, combination), { lacks: reason })
  }

  /** The cells that neither ran nor are lacked for a reason. */
  missing(): readonly string[] {
    return this.#keys().filter((key) => !this.#cells.has(key))
  }

  /** How many cells ran. */
  get count(): number {
    return [...this.#cells.values()].filter((cell) => cell === "ran").length
  }

  /** The table as text: a row per feature, a column per combination, the reasons below. */
  print(): string {
    const reasons: string[] = []
    const width = Math.max(...this.#features.map((feature) => feature.length))
    const rows = this.#features.map((feature) => {
      const marks = this.#combinations.map((combination) => {
        const cell = this.#cells.get(keyOf(feature, combination))
        return (cell === undefined ? "MISSING" : cell === "ran" ? "ran" : noteOf(reasons, cell.lacks)).padEnd(COLUMN)
      })
      return `${feature.padEnd(width)}  ${marks.join("")}`
    })
    const heads = ["transport", "client", "version"].map((label, line) => {
      const cells = this.#combinations.map((combination) => headOf(combination)[line]?.padEnd(COLUMN))
      return `${label.padEnd(width)}  ${cells.join("")}`
    })
    const notes = reasons.map((reason, index) => `${LETTERS[index]}  ${reason}`)
    return [...heads.map(trimEnd), "", ...rows.map(trimEnd), "", ...notes].join("\n")
  }

  #keys(): readonly string[] {
    return this.#features.flatMap((feature) => this.#combinations.map((combination) => keyOf(feature, combination)))
  }
}

const COLUMN = 12
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

function keyOf(feature: string, combination: Combination): string {
  return `${combination.name}: ${feature}`
}

function headOf({ client, transport, version }: Combination): readonly string[] {
  const [sdk = "", mode = ""] = client.split(" ")
  return [transport, `${sdk} ${mode}`, version]
}

/** The letter of a reason, which is noted the first time. */
function noteOf(reasons: string[], reason: string): string {
  if (!reasons.includes(reason)) reasons.push(reason)
  return `– ${LETTERS[reasons.indexOf(reason)]}`
}

function trimEnd(text: string): string {
  return text.trimEnd()
}
