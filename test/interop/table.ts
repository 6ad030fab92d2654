/** Which cells of a table of features ran, and why the others cannot. */

/** One column: its name, and what is written over it, a line each. */
export interface Column {
  readonly name: string
  readonly heads: readonly string[]
}

/** What is known of one cell: that it ran, or why the column does not have it. */
type Cell = "ran" | { readonly lacks: string }

/** The table, filled while the suite runs. */
export class Table {
  readonly #features: readonly string[]
  readonly #labels: readonly string[]
  readonly #columns: readonly Column[]
  readonly #cells = new Map<string, Cell>()

  /** `labels` name the lines of the columns' heads. */
  constructor(features: readonly string[], labels: readonly string[], columns: readonly Column[]) {
    this.#features = features
    this.#labels = labels
    this.#columns = columns
  }

  ran(feature: string, column: Column): void {
    this.#cells.set(keyOf(feature, column), "ran")
  }

  lacks(feature: string, column: Column, reason: string): void {
    this.#cells.set(keyOf(feature, column), { lacks: reason })
  }

  /** The cells that neither ran nor are lacked for a reason. */
  missing(): readonly string[] {
    return this.#keys().filter((key) => !this.#cells.has(key))
  }

  /** How many cells ran. */
  get count(): number {
    return [...this.#cells.values()].filter((cell) => cell === "ran").length
  }

  /** The table as text: a row per feature, the reasons below. */
  print(): string {
    const reasons: string[] = []
    const width = Math.max(...this.#features.map((feature) => feature.length))
    const rows = this.#features.map((feature) => {
      const marks = this.#columns.map((column) => {
        const cell = this.#cells.get(keyOf(feature, column))
        return (cell === undefined ? "MISSING" : cell === "ran" ? "ran" : noteOf(reasons, cell.lacks)).padEnd(COLUMN)
      })
      return `${feature.padEnd(width)}  ${marks.join("")}`
    })
    const heads = this.#labels.map((label, line) => {
      const cells = this.#columns.map((column) => (column.heads[line] ?? "").padEnd(COLUMN))
      return `${label.padEnd(width)}  ${cells.join("")}`
    })
    const notes = reasons.map((reason, index) => `${LETTERS[index]}  ${reason}`)
    return [...heads.map(trimEnd), "", ...rows.map(trimEnd), "", ...notes].join("\n")
  }

  #keys(): readonly string[] {
    return this.#features.flatMap((feature) => this.#columns.map((column) => keyOf(feature, column)))
  }
}

const COLUMN = 12
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

function keyOf(feature: string, column: Column): string {
  return `${column.name}: ${feature}`
}

/** The letter of a reason, which is noted the first time. */
function noteOf(reasons: string[], reason: string): string {
  if (!reasons.includes(reason)) reasons.push(reason)
  return `– ${LETTERS[reasons.indexOf(reason)]}`
}

function trimEnd(text: string): string {
  return text.trimEnd()
}
