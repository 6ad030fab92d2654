// Plain text tables that are Markdown too.

/** A number with about three significant digits. */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return "-"
  const size = Math.abs(value)
  if (size >= 100) return String(Math.round(value))
  return value.toFixed(size >= 10 ? 1 : 2)
}

/** `median [min-max]` of a spread. */
export function formatSpread({ median, min, max }) {
  return `${formatNumber(median)} [${formatNumber(min)}-${formatNumber(max)}]`
}

/** `median [p10-p90]` of a range. */
export function formatRange({ median, p10, p90 }) {
  return `${formatNumber(median)} [${formatNumber(p10)}-${formatNumber(p90)}]`
}

/**
 * A table whose first column is aligned left, the others right.
 * @param {readonly string[]} head
 * @param {readonly (readonly unknown[])[]} rows
 */
export function formatTable(head, rows) {
  const cells = [
    head,
    ...rows.map((row) => row.map((cell) => (typeof cell === "number" ? formatNumber(cell) : `${cell ?? "-"}`))),
  ]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)))
  const toLine = (row) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join(" | ")} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`
  return [toLine(cells[0]), rule, ...cells.slice(1).map(toLine)].join("\n")
}
