// Medians, quantiles and paired ratios. Values that are not finite are left out.

/** The value below which the share `p` of `values` lies, between neighbours in proportion. */
export function quantile(values, p) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
  if (sorted.length === 0) return Number.NaN
  const at = (sorted.length - 1) * p
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

/** The middle of `values`. */
export function median(values) {
  return quantile(values, 0.5)
}

/** Median, minimum and maximum, for a table of absolute values. */
export function spreadOf(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** Median and 10 to 90 % range, for a ratio that decides something. */
export function rangeOf(values) {
  return { median: median(values), p10: quantile(values, 0.1), p90: quantile(values, 0.9), count: values.length }
}

/** `dividends[i] / divisors[i]`: ratios of values that were measured side by side. */
export function pairedRatios(dividends, divisors) {
  return dividends.map((value, index) => value / divisors[index])
}
