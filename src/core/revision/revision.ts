/**
 * What a protocol revision is: facts and encoders as data. Nothing outside `core` compares a version string, and "method not
 * found" follows from a method's absence in the table.
 */
import type { ContentBlock } from "../model/content.js"
import type { FormFacts } from "../model/elicitation.js"
import type { Implementation } from "../model/identity.js"
import type { Prompt } from "../model/prompt.js"
import type { Resource, ResourceTemplate } from "../model/resource.js"
import type { Tool } from "../model/tool.js"
import type { JsonObject } from "../wire/message.js"

/** How a version travels: with every request (modern), or once in a handshake (legacy). */
export type Era = "modern" | "legacy"

/** The member of `params` that a method's `Mcp-Name` header repeats. */
export type NamedBy = "name" | "uri" | "taskId"

/** What a request asks for, whichever revision names it: the key of the server's routes. */
export type Operation =
  | "discover"
  | "initialize"
  | "ping"
  | "setLogLevel"
  | "listTools"
  | "callTool"
  | "listResources"
  | "listResourceTemplates"
  | "readResource"
  | "listPrompts"
  | "getPrompt"
  | "complete"
  | "listen"
  | "subscribe"
  | "unsubscribe"

/** What a notification of a client says. */
export type ClientNotice = "initialized" | "cancelled" | "progress" | "rootsListChanged"

/** What a revision says of one request method. */
export interface MethodFacts {
  readonly method: string
  readonly operation: Operation
  readonly namedBy: NamedBy | undefined
  /** Whether results carry `ttlMs` and `cacheScope`. */
  readonly cacheable: boolean
  /** Whether the client may be asked for input before the result. */
  readonly mayAsk: boolean
  /** Whether the request stays open until one of the two sides ends it. */
  readonly stays: boolean
}

/** One revision of the protocol. To add one: a file like its neighbours and a line in `table.ts`. */
export interface Revision {
  readonly version: string
  readonly era: Era
  /** The requests that a client may send. */
  readonly methods: ReadonlyMap<string, MethodFacts>
  /** The notifications that a client may send. */
  readonly notifications: ReadonlyMap<string, ClientNotice>
  /** Whether a connection that closes cancels the request that it carried. */
  readonly closeCancels: boolean
  /** Whether the events of HTTP streams have ids, by which a client that lost its connection gets the rest. */
  readonly resumes: boolean
  /** Whether servers may send several messages in one array. */
  readonly batches: boolean
  /** Whether HTTP headers repeat members of the body, and must agree with them. */
  readonly mirrors: boolean
  /** The HTTP statuses of errors that the revision gives one of their own; every other error of a method rides on 200. */
  readonly errorStatus: ReadonlyMap<number, number>
  /** Whether the revision's peers may be sent an error code. */
  maySend(code: number): boolean
  /** Whether each result says its `resultType` and, in `_meta`, which server it came from. */
  readonly selfDescribingResults: boolean
  /** How the client is asked for input: by a request on the call's stream, or by a result that the client answers with a new call. */
  readonly asks: "push" | "replay"
  /** What the forms of the revision's clients can say. */
  readonly form: FormFacts
  /** Whether the client's model can be given tools. */
  readonly samplingTools: boolean
  /** Whether `structuredContent` and output schemas may be any JSON value, or objects only. */
  readonly structured: "any" | "object"
  /** The code of "there is no such resource". */
  readonly resourceNotFoundCode: number
  /** The encoders of what the revision sends; each leaves out what the revision does not know. */
  readonly encode: Encoders
}

/** From the neutral model to what one revision sends. */
export interface Encoders {
  /** The content of results and prompts; the same array when nothing has to be left out. */
  blocks(blocks: readonly ContentBlock[]): readonly (ContentBlock | JsonObject)[]
  tool(tool: Tool): JsonObject
  resource(resource: Resource): JsonObject
  template(template: ResourceTemplate): JsonObject
  prompt(prompt: Prompt): JsonObject
  implementation(implementation: Implementation): JsonObject
}
