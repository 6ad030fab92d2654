/** `conduit-mcp/client`: connects to servers of every era. */
export type { CallSettings, Progress } from "../client/call.js"
export type { Client } from "../client/client.js"
export type { ClientStatus, ConnectionState, NegotiationReason, Prior } from "../client/connection/status.js"
export type {
  ElicitAnswer,
  FormQuestion,
  HandlerContext,
  Handlers,
  ServerLogLine,
  UrlQuestion,
} from "../client/handler/handlers.js"
export type { ClientLimits } from "../client/limits.js"
export type {
  Dialer,
  Link,
  LinkEvents,
  LinkFacts,
  Noise,
  Outbound,
  Outcome,
  ReplyListener,
  Sent,
} from "../client/link.js"
export type {
  CompletionRef,
  CompletionResult,
  ListItems,
  ListPage,
  PromptList,
  PromptResult,
  ReadResult,
  RefusedEntry,
  ResourceList,
  ResourceTemplateList,
  ToolCallResult,
  ToolList,
} from "../client/method/results.js"
export type {
  CacheMode,
  CallOptions,
  ClientOptions,
  HeaderSource,
  HeaderValues,
  PageOptions,
  Protocol,
} from "../client/options.js"
export { type LookedUp, lookup } from "../client/registry.js"
export { McpError } from "../core/error/error.js"
export type { EntryKind } from "../core/feature/list-entry.js"
export { type BodySink, HttpAbort, type HttpReply, type HttpRequest, type HttpSend } from "../core/http/send.js"
export {
  type ClientEvent,
  type ClientEvents,
  type ClientOutcome,
  type ClientRequestEnd,
  type ClientRequestFacts,
  type ClientWatcher,
  type ConnectionFacts,
  clientEvents,
  type FailureFacts,
  type ListenFacts,
  type ProbeFacts,
  type QuestionFacts,
  type RetryCause,
  type WatchableClient,
} from "../observe/client-event.js"
export type { StdioCommand } from "../transport/stdio/command.js"
export { type ConnectOptions, connect, type Target } from "./connect.js"
