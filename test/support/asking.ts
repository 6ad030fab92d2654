/** Clients that answer questions: the modern one by sending the call again, the legacy one by responding. */
import { initializeRequest, type Json, legacyRequest, modernRequest } from "./wire.js"

/** A question as it came over the wire. The legacy era has no keys. */
export interface Asked {
  readonly key: string | undefined
  readonly method: string
  readonly params: Json
}

/** Answers a question; undefined leaves it open. */
export type Reply = (asked: Asked) => Json | undefined

/** Every capability that a server can ask for. */
export const everything: Json = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
}

/** The answer of a user who accepts. */
export const accept = (content?: Json): Json =>
  content === undefined ? { action: "accept" } : { action: "accept", content }
/** The answer of a user who declines. */
export const decline: Json = { action: "decline" }

/** What came back in one round of a modern call. */
export interface Round {
  readonly response: Json
  /** Undefined when the call was refused. */
  readonly result: Json | undefined
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json } | undefined
  /** The questions; none in the last round. */
  readonly asked: readonly Asked[]
  readonly state: string | undefined
}

/** Reads what came back in one round. */
export function toRound(response: Json): Round {
  const result = response["result"] as Json | undefined
  const requests = (result?.["inputRequests"] ?? {}) as Record<string, { method: string; params: Json }>
  return {
    response,
    result,
    error: response["error"] as Round["error"],
    asked: Object.entries(requests).map(([key, request]) => ({ key, ...request })),
    state: result?.["requestState"] as string | undefined,
  }
}

/** What a round may come with, beside what the first one had. */
export interface RoundOptions {
  readonly state?: string | undefined
  readonly answers?: Json | undefined
  readonly meta?: Json
}

/** A call of the modern era. */
export interface ModernCall {
  /** Sends the call: at first with nothing, then with a state and answers. */
  round(options?: RoundOptions): Promise<Round>
  /** Sends it until it is answered, with the answers that `reply` gives. Answers every round, in order. */
  run(reply: Reply): Promise<readonly Round[]>
}

/** What a call is made of. */
export interface CallOptions {
  readonly capabilities?: Json
  readonly method?: string
}

let ids = 10_000

/** A modern call over whatever `request` sends on. */
export function modernCall(
  request: (message: Json) => Promise<Json>,
  params: Json,
  { capabilities = everything, method = "tools/call" }: CallOptions = {},
): ModernCall {
  const round = async ({ state, answers, meta }: RoundOptions = {}): Promise<Round> => {
    const message = modernRequest(++ids, method, {
      ...params,
      ...(state === undefined ? {} : { requestState: state }),
      ...(answers === undefined ? {} : { inputResponses: answers }),
      _meta: { "io.modelcontextprotocol/clientCapabilities": capabilities, ...meta },
    })
    return toRound(await request(message))
  }
  return {
    round,
    async run(reply) {
      const rounds = [await round()]
      for (let last = rounds[0]; last !== undefined && last.asked.length > 0 && rounds.length < 40; ) {
        last = await round({ state: last.state, answers: answersOf(last.asked, reply) })
        rounds.push(last)
      }
      return rounds
    },
  }
}

/** The answers to the questions of a round. */
export function answersOf(asked: readonly Asked[], reply: Reply): Json {
  const answers = asked.map((one) => [one.key, reply(one)] as const)
  return Object.fromEntries(answers.filter(([, answer]) => answer !== undefined))
}

/** A legacy client on a link. */
export interface LegacyClient<Link> {
  readonly link: Link
  /** Sends a request and answers what is asked until the response comes. Answers it and the questions, in order. */
  call(
    method: string,
    params: Json,
    reply: Reply,
  ): Promise<{ readonly response: Json; readonly asked: readonly Asked[] }>
}

/** What a legacy client needs of a link. */
export interface Wire {
  send(message: unknown): unknown
  next(matches: (message: Json) => boolean): Promise<Json>
  request(message: Json): Promise<Json>
}

/** Opens a legacy session on a link. */
export async function legacyClient<Link extends Wire>(
  link: Link,
  {
    version = "2025-11-25",
    capabilities = everything,
  }: { readonly version?: string; readonly capabilities?: Json } = {},
): Promise<LegacyClient<Link>> {
  await link.request(initializeRequest(++ids, version, capabilities))
  link.send({ jsonrpc: "2.0", method: "notifications/initialized" })
  const answered = new Set<unknown>()
  return {
    link,
    async call(method, params, reply) {
      const id = ++ids
      const asked: Asked[] = []
      link.send(legacyRequest(id, method, params))
      for (;;) {
        const message = await link.next(
          (one) =>
            (one["id"] === id && one["method"] === undefined) ||
            (one["method"] !== undefined && one["id"] !== undefined && !answered.has(one["id"])),
        )
        if (message["method"] === undefined) return { response: message, asked }
        answered.add(message["id"])
        const question = {
          key: undefined,
          method: String(message["method"]),
          params: (message["params"] ?? {}) as Json,
        }
        asked.push(question)
        const result = reply(question)
        if (result !== undefined) link.send({ jsonrpc: "2.0", id: message["id"], result })
      }
    },
  }
}

/** Answers by message: the questions of a form by their texts. */
export function byMessage(answers: Readonly<Record<string, Json>>): Reply {
  return ({ params }) => answers[String(params["message"])]
}

/** The text of a tool's result. */
export function textOf(result: Json | undefined): string {
  const [block] = (result?.["content"] ?? []) as { readonly text?: string }[]
  return block?.text ?? ""
}
