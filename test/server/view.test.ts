/** What each caller sees of a server: lists, calls, reads, completion and capabilities obey `canSee`. */
import {
  type Bus,
  type CanSee,
  type Change,
  createServer,
  type Definition,
  type Principal,
  prompt,
  resource,
  resourceTemplate,
  type ServerOptions,
  tool,
} from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, modernCall } from "../support/asking.js"
import { post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { ask, type EraName, eras, linked } from "../support/story.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.close()
})

const isAdmin = (caller: Principal | undefined): boolean => caller?.scopes?.includes("admin") === true
const nameOf = (definition: Definition): string => {
  switch (definition.kind) {
    case "resource":
      return definition.uri
    case "resource-template":
      return definition.uriTemplate
    default:
      return definition.name
  }
}
/** What has "secret" in its name is for admins. */
const secretsForAdmins: CanSee = (definition, caller) => isAdmin(caller) || !nameOf(definition).includes("secret")

const entered: string[] = []
afterEach(() => {
  entered.length = 0
})

const open = {
  tools: [tool("open", {}, () => "open")],
  resources: [
    resource("test://open", { name: "open", freshness: { ttlMs: 9, cacheScope: "public" } }, () => "open"),
    resourceTemplate("open://{id}", { name: "open", complete: { id: () => ["1"] } }, ({ id }) => id),
  ],
  prompts: [prompt("open", {}, () => "open")],
}
/** Notes that a handler was entered. */
function enter(what: string): string {
  entered.push(what)
  return what
}
const secret = {
  tools: [tool("secret", {}, () => enter("tool"))],
  resources: [
    resource("test://secret", { name: "secret" }, () => enter("resource")),
    resourceTemplate("secret://{id}", { name: "secret", complete: { id: () => ["1"] } }, () => enter("template")),
  ],
  prompts: [prompt("secret", {}, () => enter("prompt"))],
}

function serverWith(options: Partial<ServerOptions> = {}) {
  const logger = createRecordingLogger()
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools: [...open.tools, ...secret.tools],
    resources: [...open.resources, ...secret.resources],
    prompts: [...open.prompts, ...secret.prompts],
    canSee: secretsForAdmins,
    logger,
    ...options,
  })
  return { server, logger }
}

/** The same server without anything that the caller cannot see. */
const onlyOpen = () => createServer({ name: "test", version: "1.0.0", ...open })

/** Serves over HTTP; `Authorization` is the scopes of the caller. */
async function start(options: Partial<ServerOptions> = {}): Promise<string> {
  const one = await serve(serverWith(options).server, {
    port: 0,
    auth: ({ header }) => ({ id: "ada", scopes: (header("authorization") ?? "").split(" ") }),
  })
  running.push(one)
  return one.url
}

type Ask = (method: string, params?: Json) => Promise<Json>

const asks: Record<EraName, (url: string, scopes: string) => Promise<Ask>> = {
  modern: async (url, authorization) => async (method, params) =>
    (await postModern(url, modernRequest(1, method, params), { authorization })).json,
  legacy: async (url, authorization) => {
    const opened = await post(url, initializeRequest(), { authorization })
    const headers = {
      authorization,
      "mcp-session-id": String(opened.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    }
    return async (method, params) => (await post(url, legacyRequest(1, method, params ?? {}), headers)).json
  },
}

const namesIn = (answer: Json, list: string, key: string): unknown =>
  ((answer["result"] as Json)[list] as Json[]).map((entry) => entry[key])

describe.each(eras)("a caller (%s)", (era) => {
  it.each([
    ["tools/list", "tools", "name", ["open"], ["open", "secret"]],
    ["resources/list", "resources", "uri", ["test://open"], ["test://open", "test://secret"]],
    ["resources/templates/list", "resourceTemplates", "uriTemplate", ["open://{id}"], ["open://{id}", "secret://{id}"]],
    ["prompts/list", "prompts", "name", ["open"], ["open", "secret"]],
  ])("gets in %s what it can see", async (method, list, key, few, all) => {
    const url = await start()
    const [user, admin] = [await asks[era](url, "user"), await asks[era](url, "admin")]
    expect(namesIn(await user(method), list, key)).toEqual(few)
    expect(namesIn(await admin(method), list, key)).toEqual(all)
    expect(namesIn(await user(method), list, key)).toEqual(few)
  })

  it.each<[method: string, params: Json]>([
    ["tools/call", { name: "secret" }],
    ["resources/read", { uri: "test://secret" }],
    ["resources/read", { uri: "secret://1" }],
    ["prompts/get", { name: "secret" }],
    [
      "completion/complete",
      { ref: { type: "ref/resource", uri: "secret://{id}" }, argument: { name: "id", value: "" } },
    ],
    [
      "completion/complete",
      { ref: { type: "ref/resource", uri: "test://secret" }, argument: { name: "id", value: "" } },
    ],
    ["completion/complete", { ref: { type: "ref/prompt", name: "secret" }, argument: { name: "id", value: "" } }],
  ])("is answered by %s as if what it cannot see were not there", async (method, params) => {
    const user = await asks[era](await start(), "user")
    const answer = await user(method, params)
    const { error } = await ask(onlyOpen(), era, method, params)
    expect(error).toBeDefined()
    expect(answer["error"]).toEqual(error)
    expect(entered).toEqual([])
  })

  it("reaches what it can see", async () => {
    const admin = await asks[era](await start(), "admin")
    await admin("tools/call", { name: "secret" })
    await admin("resources/read", { uri: "test://secret" })
    await admin("resources/read", { uri: "secret://1" })
    await admin("prompts/get", { name: "secret" })
    expect(entered).toEqual(["tool", "resource", "template", "prompt"])
  })

  it("is told only of what it can see", async () => {
    const url = await start({ tools: secret.tools, resources: secret.resources, prompts: secret.prompts })
    const declaredTo = async (scopes: string): Promise<string[]> => {
      const authorization = scopes
      const { json } =
        era === "modern"
          ? await postModern(url, modernRequest(1, "server/discover"), { authorization })
          : await post(url, initializeRequest(), { authorization })
      return Object.keys((json["result"] as Json)["capabilities"] as Json).sort()
    }
    expect(await declaredTo("user")).toEqual(["logging"])
    expect(await declaredTo("admin")).toEqual(["completions", "logging", "prompts", "resources", "tools"])
    const user = await asks[era](url, "user")
    for (const method of ["tools/list", "resources/list", "prompts/list", "completion/complete", "tools/call"]) {
      expect((await user(method, { name: "secret" }))["error"], method).toMatchObject({ code: -32601 })
    }
  })

  it("sees nothing of which canSee says anything but true, or fails on", async () => {
    const canSee = (definition: Definition): boolean => {
      if (nameOf(definition) === "secret") throw new Error("no idea")
      return Promise.resolve(true) as unknown as boolean
    }
    const { server, logger } = serverWith({ canSee, resources: [], prompts: [] })
    expect((await ask(server, era, "tools/list"))["error"]).toMatchObject({ code: -32601 })
    expect(logger.lines.map(({ level }) => level)).toEqual(["error"])
  })
})

describe("what a view promises", () => {
  const publicly = { ttlMs: 60_000, cacheScope: "public" } as const
  const hints = (answer: Json): unknown => {
    const { ttlMs, cacheScope } = answer["result"] as Json
    return { ttlMs, cacheScope }
  }

  it.each<[method: string, params: Json, ttlMs: number]>([
    ["tools/list", {}, 60_000],
    ["prompts/list", {}, 60_000],
    ["resources/list", {}, 60_000],
    ["resources/templates/list", {}, 60_000],
    ["server/discover", {}, 60_000],
    ["resources/read", { uri: "test://open" }, 9],
  ])("is for its caller alone: %s", async (method, params, ttlMs) => {
    const { server } = serverWith({ freshness: publicly })
    expect(hints(await ask(server, "modern", method, params))).toEqual({ ttlMs, cacheScope: "private" })
    const shared = createServer({ name: "test", version: "1.0.0", ...open, freshness: publicly })
    expect(hints(await ask(shared, "modern", method, params))).toEqual({ ttlMs, cacheScope: "public" })
  })
})

describe("how often canSee is asked", () => {
  /** Serves callers that the header describes as JSON; counts how often anything is decided. */
  async function counting(toPrincipal = (text: string): Principal => JSON.parse(text) as Principal) {
    const decided: (Principal | undefined)[] = []
    const { server } = serverWith({
      tools: open.tools,
      resources: [],
      prompts: [],
      canSee: (_, caller) => {
        decided.push(caller)
        return true
      },
    })
    const auth = ({ header }: { header(name: string): string | undefined }) =>
      toPrincipal(header("authorization") ?? "")
    const one = await serve(server, { port: 0, auth })
    running.push(one)
    const list = (principal: Principal) =>
      postModern(one.url, modernRequest(1, "tools/list"), { authorization: JSON.stringify(principal) })
    return { server, list, decided, url: one.url }
  }

  it("is once for each caller, whoever comes in between and in however many connections", async () => {
    const { list, decided } = await counting()
    for (let round = 0; round < 3; round++) for (const id of ["ada", "bob"]) await list({ id })
    expect(decided).toEqual([{ id: "ada" }, { id: "bob" }])
  })

  it.each<[what: string, one: Principal, other: Principal]>([
    ["scopes", { id: "ada", scopes: ["a"] }, { id: "ada", scopes: ["a", "b"] }],
    ["claims", { id: "ada", claims: { plan: "free" } }, { id: "ada", claims: { plan: "pro" } }],
    ["issuer", { id: "ada", issuer: "x" }, { id: "ada", issuer: "y" }],
    ["client", { id: "ada", clientId: "x" }, { id: "ada", clientId: "y" }],
  ])("is again for other %s of the same caller", async (_, one, other) => {
    const { list, decided } = await counting()
    for (const principal of [one, other, one, other]) await list(principal)
    expect(decided).toEqual([one, other])
  })

  it("is each time for a principal that says more than JSON can", async () => {
    const { list, decided } = await counting((text) => ({
      ...(JSON.parse(text) as Principal),
      claims: { roles: new Set(["a"]) },
    }))
    await list({ id: "ada" })
    await list({ id: "ada" })
    expect(decided).toHaveLength(2)
  })

  it("is again once definitions change, or server.changed says that something else did", async () => {
    const { server, list, decided } = await counting()
    await list({ id: "ada" })
    const entry = server.tool("more", {}, () => "more")
    await list({ id: "ada" })
    expect(decided).toHaveLength(3)
    entry.remove()
    await list({ id: "ada" })
    expect(decided).toHaveLength(4)
    server.changed("tools")
    await list({ id: "ada" })
    expect(decided).toHaveLength(5)
  })

  it("is again once another process says that something changed", async () => {
    const listeners = new Set<(change: Change) => void>()
    const bus: Bus = {
      publish: (change) => {
        for (const listener of listeners) listener(change)
      },
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    let isOpen = false
    const make = () => createServer({ name: "test", version: "1.0.0", tools: open.tools, canSee: () => isOpen })
    const [here, there] = [make(), make()]
    there.endpoint({ bus })
    const raw = link(here, { bus })
    expect((await raw.modern("tools/list"))["error"]).toMatchObject({ code: -32601 })
    isOpen = true
    there.changed("tools")
    expect(namesIn(await raw.modern("tools/list"), "tools", "name")).toEqual(["open"])
    raw.close()
  })

  it("is never where there is no canSee", async () => {
    const server = onlyOpen()
    await linked(server, async (raw) => {
      const [one, other] = [await raw.modern("tools/list"), await raw.modern("tools/list")]
      expect(one["result"]).toEqual(other["result"])
    })
  })
})

describe("a call of several rounds", () => {
  it("is refused in the round in which its caller can no longer see the tool", async () => {
    let isOpen = true
    const asking = tool("asking", {}, async (_, ctx) => {
      const { action } = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
      return enter(action)
    })
    const server = createServer({
      name: "test",
      version: "1.0.0",
      tools: [asking, ...open.tools],
      canSee: (definition) => isOpen || nameOf(definition) !== "asking",
    })
    const raw = link(server)
    const call = modernCall((message) => raw.request(message), { name: "asking" })
    const { state } = await call.round()
    isOpen = false
    server.changed("tools")
    const { error } = await call.round({ state, answers: { q1: accept({ yes: true }) } })
    expect(error).toMatchObject({ code: -32602, message: "Unknown tool: asking" })
    expect(entered).toEqual([])
    raw.close()
  })
})

describe("resources that a caller cannot see", () => {
  it("cannot be subscribed to in a legacy session", async () => {
    const url = await start()
    const headers = { authorization: "user" }
    const opened = await post(url, initializeRequest(), headers)
    const session = { ...headers, "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    const subscribe = (uri: string) => post(url, legacyRequest(2, "resources/subscribe", { uri }), session)
    expect((await subscribe("test://open")).json["error"]).toBeUndefined()
    expect((await subscribe("test://secret")).json["error"]).toBeDefined()
    expect((await subscribe("secret://1")).json["error"]).toBeDefined()
  })

  it("are left out of what a listen stream honours", async () => {
    const { server } = serverWith()
    await linked(server, async (raw) => {
      const notifications = { resourceSubscriptions: ["test://open", "test://secret", "secret://1"] }
      raw.send(modernRequest("l", "subscriptions/listen", { notifications }))
      const { params } = await raw.next(({ method }) => method === "notifications/subscriptions/acknowledged")
      expect((params as Json)["notifications"]).toEqual({ resourceSubscriptions: ["test://open"] })
    })
  })
})
