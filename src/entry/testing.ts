/** `conduit-mcp/testing`: a server in memory, for tests. */
export { type Linkable, linkMemory, type MemoryLink } from "../transport/memory.js"
