/** Clients by name, for those parts of a program that did not make them. */
import { misuse } from "../core/error/error.js"
import type { Client } from "./client.js"
import type { ClientStatus } from "./connection/status.js"

/** A client that was found by its name, and its status at that moment. */
export interface LookedUp extends ClientStatus {
  readonly client: Client
}

const clients = new Map<string, Client>()

/** The open client with a name, and what is known of it; undefined when there is none. */
export function lookup(name: string): LookedUp | undefined {
  const client = clients.get(name)
  return client === undefined ? undefined : { client, ...client.status }
}

/**
 * Files a client under its name until it is closed. Answers the function that takes it out.
 *
 * @throws `McpError` of kind `misuse`, reason `name_taken`, while another open client has the name.
 */
export function register(name: string, client: Client): () => void {
  if (clients.has(name))
    throw misuse("name_taken", `a client is open under the name "${name}": close it first, or take another name`)
  clients.set(name, client)
  return () => {
    if (clients.get(name) === client) clients.delete(name)
  }
}
