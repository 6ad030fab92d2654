/** The grammar of `_meta` keys, and the two rules about keys that are not the caller's. */

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/

/**
 * Whether `key` is a valid `_meta` key: an optional prefix of labels with dots between them and a slash after them, then a
 * name, which may be empty.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function isMetaKey(key: string): boolean {
  const labels = labelsOf(key)
  const name = labels === undefined ? key : key.slice(key.indexOf("/") + 1)
  return NAME.test(name) && (labels ?? []).every((label) => LABEL.test(label))
}

/**
 * Whether the specification keeps the key's prefix for itself: its second label is `modelcontextprotocol` or `mcp`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function isReservedMetaKey(key: string): boolean {
  return isOurs(labelsOf(key)?.[1])
}

/** Whether a client leaves the key out when a caller sets it: `progressToken`, or any label of the prefix is the protocol's. */
export function isDroppedMetaKey(key: string): boolean {
  return key === "progressToken" || (labelsOf(key) ?? []).some(isOurs)
}

/** The labels before the first slash; undefined for a key without a prefix. */
function labelsOf(key: string): readonly string[] | undefined {
  const slash = key.indexOf("/")
  return slash < 0 ? undefined : key.slice(0, slash).split(".")
}

function isOurs(label: string | undefined): boolean {
  return label === "modelcontextprotocol" || label === "mcp"
}
