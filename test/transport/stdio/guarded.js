/** A server whose first import is the guard, so that what the others print at import does no harm. */
import "conduit-mcp/stdio-guard"
import "./noisy.js"
import "./server.js"
