/** What the table's columns are: a server on one transport in one revision, and what it has. */
import type { CompletionRef, Protocol, ServerLogLine } from "conduit-mcp/client"
import type { Place } from "./place.js"

/** One thing that a server has, or the reason why it cannot be tried there. */
export type Has<Value> = Value | string

type LogLevel = ServerLogLine["level"]

/** A use of a tool. */
export interface ToolUse {
  readonly tool: string
  readonly args?: Readonly<Record<string, string | number | boolean | readonly unknown[]>>
}

/** How a server says no: by a result, or by an error with this code. */
export type No = { readonly isError: true } | { readonly code: number }

/** How a server can be recognised. */
export interface Found {
  readonly era: "modern" | "legacy"
  readonly version: string
}

/** A form, with the answer to it. */
export interface Form extends ToolUse {
  readonly message: string
  /** What the user fills in. */
  readonly content: Readonly<Record<string, string>>
  /** What the tool says afterwards has these in it: what the user filled in, and defaults that were left as they are. */
  readonly told: readonly string[]
}

/** A tool that needs a page to be visited first. */
export interface Locked extends ToolUse {
  readonly opener: ToolUse | undefined
  readonly url: string
  readonly text: string
}

/** What the suite tries of a server. */
export interface Abilities {
  /** The names that a list has; the server's conditional ones are among them. */
  readonly tools: readonly string[]
  readonly resources: Has<readonly string[]>
  readonly templates: Has<readonly string[]>
  readonly prompts: Has<readonly string[]>
  /** A list that goes out in pages: its method, the member that has its items, and how many there are on the first page. */
  readonly pages: Has<{ readonly method: "tools/list" | "resources/list"; readonly size: number }>
  /** The code of an answer to a list of what the server does not have at all. */
  readonly absent: Has<{ readonly list: "listResources" | "listPrompts"; readonly code: number }>
  readonly text: ToolUse & { readonly text: string }
  /** A tool that repeats one argument, with something before it. */
  readonly echo: Has<{ readonly tool: string; readonly argument: string; readonly before: string }>
  readonly structured: ToolUse & { readonly value: unknown }
  readonly failing: ToolUse & { readonly text: string }
  readonly invalid: ToolUse & { readonly no: No }
  readonly unknownTool: No
  /** How many steps it reports is the total of each. */
  readonly progress: Has<ToolUse & { readonly steps: number }>
  /** A tool that logs. With `quiet` it first logs a line of a lower level, which the server leaves out when it is asked to. */
  readonly log: Has<
    ToolUse & { readonly isLine: (line: ServerLogLine) => boolean; readonly quiet: LogLevel | undefined }
  >
  /** A tool after which a resource, or a list, is another one. */
  readonly change: Has<ToolUse & { readonly change: { readonly list: string } | { readonly uri: string } }>
  /** Whether changes are told without being listened to: of lists, and of resources that were subscribed to. */
  readonly unasked: Has<true>
  readonly textResource: Has<{ readonly uri: string; readonly mimeType: string; readonly text: string | RegExp }>
  readonly blobResource: Has<{ readonly uri: string; readonly mimeType: string; readonly blob: string | RegExp }>
  readonly templateResource: Has<{ readonly uri: string; readonly text: string | RegExp }>
  readonly unknownResource: Has<{ readonly uri: string; readonly code: number }>
  readonly prompt: Has<{
    readonly name: string
    readonly args: Readonly<Record<string, string>>
    readonly text: string
  }>
  readonly unknownPrompt: Has<{ readonly code: number }>
  readonly invalidPrompt: Has<{ readonly name: string; readonly code: number }>
  readonly promptCompletion: Has<Completion>
  readonly templateCompletion: Has<Completion>
  readonly form: Has<Form>
  readonly page: Has<ToolUse & { readonly url: string; readonly completes: boolean; readonly told: string }>
  /** A tool that an error with a page keeps shut: until the opener is used, or, without one, until it is called again. */
  readonly locked: Has<Locked>
  /** A tool that asks two forms, one after the other. */
  readonly rounds: Has<ToolUse & { readonly messages: readonly [string, string]; readonly text: string }>
  readonly sampling: Has<ToolUse & { readonly asked: RegExp; readonly maxTokens: number }>
  /** A tool that tells of the roots, which the server asks for at once or for the tool. */
  readonly roots: Has<ToolUse>
  readonly changedRoots: Has<ToolUse>
  /** A tool that asks for a form, called by a client that shows none. */
  readonly undeclared: Has<ToolUse & { readonly no: No }>
  /** A tool that reports progress at once and then goes on for longer than anybody waits. */
  readonly endless: Has<ToolUse>
  /** A tool that answers once the server heard that the endless one, with the same `key`, is no longer wanted. */
  readonly witness: Has<{ readonly tool: string }>
  /** Whether other calls are answered while one that was given up goes on. */
  readonly usable: Has<true>
  /** A tool that closes the stream of its answer before it answers. */
  readonly leave: Has<ToolUse & { readonly text: string }>
  /** A tool after which the server does not know the session any more. */
  readonly forget: Has<ToolUse>
  /** A tool that ends its process. */
  readonly die: Has<ToolUse>
  /** The status of what is asked in a session that has ended; undefined where the server does not look for it. */
  readonly session: Has<{ readonly late: number | undefined }>
  /** Over `fetch` in the place of `node:http`. */
  readonly fetch: Has<true>
}

/** What is completed, and to what. */
export interface Completion {
  readonly ref: CompletionRef
  readonly name: string
  readonly value: string
  readonly values: readonly string[]
}

/** One column. */
export interface Column {
  readonly name: string
  /** What the table writes over it: transport, server, version. */
  readonly heads: readonly [string, string, string]
  readonly place: Place
  /** What the server says of itself. */
  readonly server: { readonly name: string; readonly version: string }
  readonly instructions: RegExp | undefined
  /** How the client of this column connects. */
  readonly protocol: Protocol
  readonly speaks: Found
  /** What a client that leaves it open finds. */
  readonly auto: Found & { readonly reason: "discovered" | "fell_back" }
  /** How it is found again by a client that was given what the first one found. */
  readonly again: "prior" | "fell_back"
  /** What the handshake leads to. */
  readonly legacy: string
  /** Whether 2026-07-28 is served. */
  readonly modern: boolean
  readonly has: Abilities
}
