/** `conduit-mcp`: definitions, content and errors. */

export { codes } from "../core/error/codes.js"
export { McpError, type McpErrorOptions, ToolError } from "../core/error/error.js"
export type { ErrorKind, Reason } from "../core/error/reason.js"
export type { Freshness } from "../core/feature/freshness.js"
export type { Change, ListName } from "../core/feature/listen.js"
export type { LogLevel } from "../core/feature/log-level.js"
export type { Authenticate, Gate, GateFacts, GateVerdict, Principal } from "../core/http/gate.js"
export type { Limits } from "../core/limits.js"
export type { Annotations, ContentBlock, ResourceContents } from "../core/model/content.js"
export type { ElicitAction, Elicited, ElicitedUrl } from "../core/model/elicitation.js"
export type { Icon, Implementation } from "../core/model/identity.js"
export type { FormRequest, InputRequest, PageRequest } from "../core/model/input.js"
export type { PromptMessage } from "../core/model/prompt.js"
export type {
  Root,
  SamplingContent,
  SamplingMessage,
  SamplingRequest,
  SamplingResult,
  ToolResultContent,
  ToolUseContent,
} from "../core/model/sampling.js"
export type { Tool, ToolAnnotations } from "../core/model/tool.js"
export type { Schema, StandardSchema } from "../core/schema/standard.js"
export type { JsonObject, JsonValue } from "../core/wire/message.js"
export type { Listener } from "../observe/emitter.js"
export {
  type ClientFacts,
  type ErrorFacts,
  type Outcome,
  type RequestEnd,
  type RequestFacts,
  type ServerEvent,
  type ServerEvents,
  type SessionFacts,
  type StreamFacts,
  serverEvents,
  type Watchable,
  type Watcher,
} from "../observe/event.js"
export type { LogFields, Logger } from "../observe/log.js"
export type { Definition, Entry } from "../server/catalog.js"
export {
  type ClientView,
  type CompletionContext,
  type Context,
  type ContextKey,
  type ContextLog,
  contextKey,
  type RequestContext,
} from "../server/context.js"
export {
  assistant,
  type Contents,
  content,
  contents,
  fail,
  type InputRequired,
  type InputRequiredOptions,
  inputRequired,
  type Marked,
  result,
  type ToolResult,
  user,
} from "../server/define/content.js"
export { type PromptDefinition, type PromptPatch, prompt } from "../server/define/prompt.js"
export { type ResourceDefinition, type ResourcePatch, resource } from "../server/define/resource.js"
export {
  type Completer,
  type ResourceTemplateDefinition,
  type ResourceTemplatePatch,
  resourceTemplate,
} from "../server/define/resource-template.js"
export { type AnyTool, type ToolDefinition, type ToolPatch, tool } from "../server/define/tool.js"
export type { AskOptions, ElicitUrlOptions, Jsonify, OnceContext } from "../server/input/input.js"
export { isSuspended } from "../server/input/suspension.js"
export type {
  Around,
  Hooks,
  MethodMiddleware,
  Middleware,
  Reply,
  ReplyError,
  ServerCall,
} from "../server/middleware.js"
export type { EndpointOptions, ServerOptions } from "../server/options.js"
export type { ManualHandler } from "../server/profile.js"
export { createServer, type Server } from "../server/server.js"
export type { CanSee } from "../server/view.js"
export type { Bus, Clock, EventStore, MaybePromise, Store, Stored, StreamEvent } from "../store/port.js"
