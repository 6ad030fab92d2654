// The floor of clients on the global fetch: fetch and JSON.
import { requestHeaders, requestMessage } from "../workload/messages.js"

export const meta = { client: ["modern", "legacy"] }

export async function connectClient({ era, url }) {
  let id = 0
  const call = async (name, args) => {
    const headers = requestHeaders(era, "tools/call", name)
    const body = JSON.stringify(requestMessage(era, ++id, "tools/call", { name, arguments: args }))
    const response = await fetch(url, { method: "POST", headers, body })
    const { result } = await response.json()
    return result
  }
  return { call }
}
