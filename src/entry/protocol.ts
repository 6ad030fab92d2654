/**
 * `conduit-mcp/protocol`: versions, eras, a client's decisions, message builders and checks, error codes. Pure functions and
 * values only.
 */
export { type CodeName, codes, isModernError } from "../core/error/codes.js"
export type { DiscoverResult } from "../core/feature/discover.js"
export { type EnvelopeInfo, envelope } from "../core/feature/envelope.js"
export {
  type AnsweringHandlers,
  type ClientCapabilityOptions,
  clientCapabilities,
} from "../core/negotiate/client-capabilities.js"
export {
  classifyProbe,
  type HttpOutcome,
  type ProbeOptions,
  type StdioOutcome,
  type Verdict,
} from "../core/negotiate/probe.js"
export {
  clientVersions,
  negotiateVersion,
  type PickedVersion,
  pickVersion,
} from "../core/negotiate/version.js"
export type { Era } from "../core/revision/revision.js"
export {
  era,
  legacyVersions,
  methods,
  modernVersions,
  protocolVersion,
  supportedVersions,
} from "../core/revision/table.js"
export {
  type ErrorResponse,
  errorResponse,
  type Notification,
  notification,
  type Request,
  request,
  type SuccessResponse,
  successResponse,
} from "../core/wire/build.js"
export {
  type ErrorObject,
  isNotification,
  isRequest,
  isResponse,
  type JsonObject,
  type JsonValue,
  type RequestId,
} from "../core/wire/message.js"
