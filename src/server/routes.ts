/** Which function serves which operation. The compiler sees to it that none is missing. */
import type { Answer } from "../core/exchange.js"
import type { Operation } from "../core/revision/revision.js"
import type { Call } from "./call.js"
import { complete } from "./method/completion.js"
import { discover, ping, setLogLevel } from "./method/lifecycle.js"
import { listen } from "./method/listen.js"
import { listOf } from "./method/lists.js"
import { getPrompt } from "./method/prompts.js"
import { readResource } from "./method/resources.js"
import { subscribe, unsubscribe } from "./method/subscribe.js"
import { callTool } from "./method/tools.js"

/** Serves one request. May throw: whoever calls it answers with an internal error. */
export type Route = (call: Call) => Answer | Promise<Answer>

/** The route of every operation but `initialize`, which opens what calls are made in. */
export const routes: Readonly<Record<Exclude<Operation, "initialize">, Route>> = {
  discover,
  ping,
  setLogLevel,
  listTools: listOf("tools"),
  callTool,
  listResources: listOf("resources"),
  listResourceTemplates: listOf("templates"),
  readResource,
  listPrompts: listOf("prompts"),
  getPrompt,
  complete,
  listen,
  subscribe,
  unsubscribe,
}
