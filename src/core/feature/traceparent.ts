/** Well-formedness of the W3C `traceparent`, the one trace header that is passed on. */

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x21-\x7e]*)?$/
const MAX_LENGTH = 512

/**
 * Whether `value` is a well-formed `traceparent`: ids in lower-case hex that are not all zero. Version 00 has nothing after
 * the flags, later versions may, version ff does not exist.
 *
 * @see https://www.w3.org/TR/trace-context/#traceparent-header-field-values
 */
export function isTraceparent(value: unknown): value is string {
  if (typeof value !== "string" || value.length > MAX_LENGTH) return false
  const [, version, traceId = "", parentId = "", more] = FORM.exec(value) ?? []
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return false
  return /[^0]/.test(traceId) && /[^0]/.test(parentId)
}
