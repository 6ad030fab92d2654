/** `conduit-mcp/node`: serving on Node. */
export {
  createNodeHandler,
  type NodeHandler,
  type NodeRequest,
  type Running,
  type ServeOptions,
  serve,
} from "../transport/http/node.js"
export type { HttpOptions } from "../transport/http/front.js"
