/** Authentication with one function: it looks at a request before its body is read, and says who calls. */
import { timingSafeEqual } from "node:crypto"
import { type Authenticate, createServer, fail, tool } from "conduit-mcp"

/** Tokens and who they belong to. A real server would ask a database, and keep digests only. */
const users: readonly (readonly [token: string, id: string, scopes: readonly string[]])[] = [
  ["let-ada-in", "ada", ["read", "write"]],
  ["let-grace-in", "grace", ["read"]],
]

/** Undefined refuses with 401. A function that throws refuses with 500 and tells the caller nothing. */
export const auth: Authenticate = ({ header }) => {
  const token = /^Bearer (.+)$/.exec(header("authorization") ?? "")?.[1] ?? ""
  const found = users.find(([expected]) => isSame(expected, token))
  return found === undefined ? undefined : { id: found[1], scopes: found[2] }
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [new TextEncoder().encode(expected), new TextEncoder().encode(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Handlers see who calls. A legacy session belongs to whoever opened it: to others it does not exist. */
const whoami = tool("whoami", {}, (_, ctx) => `You are ${ctx.principal?.id}.`)

const erase = tool("erase", { annotations: { destructiveHint: true } }, (_, ctx) =>
  ctx.principal?.scopes?.includes("write") === true ? "Erased." : fail("You may not write."),
)

export const server = createServer({ name: "auth", version: "1.0.0", tools: [whoami, erase] })
