/** `conduit-mcp/stdio-guard`: import it first, and what other modules print while they are loaded goes to stderr. */
import { guardStdout } from "../transport/stdio/stdout.js"

guardStdout()
