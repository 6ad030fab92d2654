/** `conduit-mcp/node`: serving on Node, over HTTP and over standard streams. */
/// <reference types="node" preserve="true" />

export type { HttpOptions } from "../transport/http/front.js"
export {
  createNodeHandler,
  type NodeHandler,
  type NodeRequest,
  type Running,
  type ServeOptions,
  serve,
} from "../transport/http/node.js"
export { type RunningStdio, type StdioOptions, serveStdio } from "../transport/stdio/server.js"
