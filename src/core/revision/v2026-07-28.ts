/** Revision 2026-07-28: stateless, version and capabilities in every request. */
import { codes, isModernError } from "../error/codes.js"
import { encodeAll, isSendable, methodTable } from "./common.js"
import type { Revision } from "./revision.js"

/** @see https://modelcontextprotocol.io/specification/2026-07-28 */
export const v2026_07_28: Revision = {
  version: "2026-07-28",
  era: "modern",
  methods: methodTable({
    "server/discover": { operation: "discover", cacheable: true },
    "tools/list": { operation: "listTools", cacheable: true },
    "tools/call": { operation: "callTool", mayAsk: true, namedBy: "name" },
    "resources/list": { operation: "listResources", cacheable: true },
    "resources/templates/list": { operation: "listResourceTemplates", cacheable: true },
    "resources/read": { operation: "readResource", mayAsk: true, namedBy: "uri", cacheable: true },
    "prompts/list": { operation: "listPrompts", cacheable: true },
    "prompts/get": { operation: "getPrompt", mayAsk: true, namedBy: "name" },
    "completion/complete": { operation: "complete" },
    "subscriptions/listen": { operation: "listen", stays: true },
  }),
  notifications: new Map([["notifications/cancelled", "cancelled"]]),
  closeCancels: true,
  resumes: false,
  batches: false,
  mirrors: true,
  errorStatus: new Map([
    [codes.methodNotFound, 404],
    [codes.missingClientCapability, 400],
  ]),
  // Of the range that JSON-RPC leaves to servers, only what the revision defines.
  maySend: (code) => isSendable(code) && (isModernError(code) || code > -32000 || code < -32099),
  selfDescribingResults: true,
  asks: "replay",
  form: { modes: true, elicitationId: false, defaults: "all", titledEnums: "oneOf", lists: true },
  samplingTools: true,
  structured: "any",
  resourceNotFoundCode: codes.invalidParams,
  encode: encodeAll,
}
