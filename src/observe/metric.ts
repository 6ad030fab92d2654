/** One metric with its labels, in the text format that Prometheus reads. */

/** How many combinations of labels a metric has room for; further ones are counted under `other`. */
const MAX_SERIES = 2_000

/** A label's value for what there is no room for. */
export const OTHER = "other"

/** What a metric is. */
export type Kind = "counter" | "gauge" | "histogram"

/** One combination of labels: how much there is, and for a histogram how it is spread. */
interface Series {
  readonly labels: string
  readonly counts: number[]
  count: number
  sum: number
}

/** See the file's comment. */
export class Metric {
  readonly #kind: Kind
  readonly #name: string
  readonly #help: string
  readonly #labels: readonly string[]
  readonly #buckets: readonly number[]
  readonly #series = new Map<string, Series>()

  constructor(kind: Kind, name: string, help: string, labels: readonly string[], buckets: readonly number[]) {
    this.#kind = kind
    this.#name = name
    this.#help = help
    this.#labels = labels
    this.#buckets = buckets
    if (labels.length === 0) this.#of([])
  }

  add(amount: number, ...values: readonly string[]): void {
    this.#of(values).sum += amount
  }

  observe(value: number, ...values: readonly string[]): void {
    const series = this.#of(values)
    const index = this.#buckets.findIndex((bound) => value <= bound)
    if (index >= 0) series.counts[index] = (series.counts[index] ?? 0) + 1
    series.count++
    series.sum += value
  }

  text(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} ${this.#kind}`]
    for (const series of this.#series.values()) lines.push(...this.#lines(series))
    return `${lines.join("\n")}\n`
  }

  #lines({ labels, counts, count, sum }: Series): readonly string[] {
    const name = this.#name
    const all = labels === "" ? "" : `{${labels}}`
    if (this.#kind !== "histogram") return [`${name}${all} ${sum}`]
    const before = labels === "" ? "" : `${labels},`
    let below = 0
    const spread = this.#buckets.map((bound, index) => {
      below += counts[index] ?? 0
      return `${name}_bucket{${before}le="${bound}"} ${below}`
    })
    return [
      ...spread,
      `${name}_bucket{${before}le="+Inf"} ${count}`,
      `${name}_sum${all} ${sum}`,
      `${name}_count${all} ${count}`,
    ]
  }

  #of(values: readonly string[]): Series {
    const key = values.join("\n")
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (this.#series.size >= MAX_SERIES && values.some((value) => value !== OTHER))
      return this.#of(values.map(() => OTHER))
    const labels = this.#labels.map((label, index) => `${label}="${quoted(values[index] ?? "")}"`).join(",")
    const made = { labels, counts: [], count: 0, sum: 0 }
    this.#series.set(key, made)
    return made
  }
}

/** A label's value between its quotes. */
function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
}
