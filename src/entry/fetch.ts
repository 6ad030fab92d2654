/** `conduit-mcp/fetch`: serving wherever there are `Request` and `Response`. */

export { createFetchHandler, type FetchHandler, type FetchInfo, type FetchOptions } from "../transport/http/fetch.js"
export type { HttpOptions } from "../transport/http/front.js"
