/** From what became of a probe to the verdict about the server. */
import { classifyProbe, type Verdict } from "../../core/negotiate/probe.js"
import type { Outcome } from "../link.js"
import { isMisshapen } from "./negotiation-error.js"
import { errorOf } from "./outcome.js"

/** What became of a request that nobody but the negotiation waits for. */
export type Reply = Outcome | { readonly kind: "timeout" }

/** The verdict by the table of `core/negotiate/probe.ts`; `versions` are those that will do, in the order of preference. */
export function classify(transport: "http" | "pipe", reply: Reply, versions: readonly string[]): Verdict {
  return transport === "pipe" ? onPipe(reply, versions) : overHttp(reply, versions)
}

function onPipe(reply: Reply, versions: readonly string[]): Verdict {
  if (reply.kind === "timeout") return classifyProbe("stdio", reply, { versions })
  if (isMisshapen(reply)) return classifyProbe("stdio", { kind: "result", result: undefined }, { versions })
  if (reply.kind !== "message") {
    return classifyProbe("stdio", { kind: "closed", cause: errorOf(reply, "server/discover") }, { versions })
  }
  const { message } = reply
  return message.kind === "result"
    ? classifyProbe("stdio", { kind: "result", result: message.result }, { versions })
    : classifyProbe("stdio", { kind: "error", error: message.error }, { versions })
}

function overHttp(reply: Reply, versions: readonly string[]): Verdict {
  switch (reply.kind) {
    case "timeout":
      return classifyProbe("http", reply, { versions })
    case "message": {
      const { message, status = 200 } = reply
      const body =
        message.kind === "result"
          ? { jsonrpc: "2.0", id: message.id, result: message.result }
          : { jsonrpc: "2.0", id: message.id ?? null, error: message.error }
      return classifyProbe("http", { kind: "http", status, contentType: "application/json", body }, { versions })
    }
    case "http": {
      const { status, contentType, body } = reply
      const type = contentType === undefined ? {} : { contentType }
      return classifyProbe("http", { kind: "http", status, ...type, body }, { versions })
    }
    default:
      return classifyProbe("http", { kind: "transport_error", cause: reply.error }, { versions })
  }
}
