/** The headers that stand on every answer of a kind, as flat lists. */

/** On every answer. */
export const SECURITY_HEADERS: readonly string[] = ["X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY"]

/** On a JSON answer. */
export const JSON_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Cache-Control",
  "no-store",
  ...SECURITY_HEADERS,
]

/** On an event stream: no proxy is to hold it back or to change it. */
export const STREAM_HEADERS: readonly string[] = [
  "Content-Type",
  "text/event-stream",
  "Cache-Control",
  "no-store, no-transform",
  "X-Accel-Buffering",
  "no",
  ...SECURITY_HEADERS,
]
