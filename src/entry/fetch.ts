/** `conduit-mcp/fetch`: serving wherever there are `Request` and `Response`. */

export type { CorsOptions } from "../core/http/cors.js"
export { createFetchHandler, type FetchHandler, type FetchInfo, type FetchOptions } from "../transport/http/fetch.js"
export type { HttpOptions } from "../transport/http/front.js"
export type { Drainable, Drained } from "../transport/shutdown.js"
