/** Revision 2025-11-25: `initialize` handshake and sessions. */
import { codes, isModernError } from "../error/codes.js"
import { encodeAll, encodeWithout, isSendable, methodTable, wrapOutputSchema } from "./common.js"
import type { Revision } from "./revision.js"

/** @see https://modelcontextprotocol.io/specification/2025-11-25 */
export const v2025_11_25: Revision = {
  version: "2025-11-25",
  era: "legacy",
  methods: methodTable({
    initialize: { operation: "initialize" },
    ping: { operation: "ping" },
    "logging/setLevel": { operation: "setLogLevel" },
    "tools/list": { operation: "listTools" },
    "tools/call": { operation: "callTool", mayAsk: true },
    "resources/list": { operation: "listResources" },
    "resources/templates/list": { operation: "listResourceTemplates" },
    "resources/read": { operation: "readResource", mayAsk: true },
    "resources/subscribe": { operation: "subscribe" },
    "resources/unsubscribe": { operation: "unsubscribe" },
    "prompts/list": { operation: "listPrompts" },
    "prompts/get": { operation: "getPrompt", mayAsk: true },
    "completion/complete": { operation: "complete" },
  }),
  notifications: new Map([
    ["notifications/initialized", "initialized"],
    ["notifications/cancelled", "cancelled"],
    ["notifications/progress", "progress"],
    ["notifications/roots/list_changed", "rootsListChanged"],
  ]),
  closeCancels: false,
  resumes: true,
  batches: false,
  mirrors: false,
  errorStatus: new Map(),
  maySend: (code) => isSendable(code) && !isModernError(code),
  selfDescribingResults: false,
  asks: "push",
  form: { modes: true, elicitationId: true, defaults: "all", titledEnums: "oneOf", lists: true },
  samplingTools: true,
  structured: "object",
  resourceNotFoundCode: codes.resourceNotFound,
  encode: {
    ...encodeAll,
    tool: (tool) =>
      tool.outputSchema === undefined
        ? encodeWithout(tool)
        : { ...encodeWithout(tool), outputSchema: wrapOutputSchema(tool.outputSchema) },
  },
}
