/** `conduit-mcp/node`: serving on Node, over HTTP and over standard streams. */
/// <reference types="node" preserve="true" />

export type { CorsOptions } from "../core/http/cors.js"
export type { HttpOptions } from "../transport/http/front.js"
export { createNodeHandler, type NodeHandler, type NodeRequest } from "../transport/http/node.js"
export { type Running, type ServeOptions, serve } from "../transport/http/serve.js"
export type { Drainable, Drained } from "../transport/shutdown.js"
export { type RunningStdio, type StdioOptions, serveStdio } from "../transport/stdio/server.js"
