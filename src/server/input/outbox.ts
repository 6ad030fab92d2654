/** What a server has asked in one legacy session, by id: which response belongs to which question. */
import type { ErrorMessage, RequestId, ResultMessage } from "../../core/wire/message.js"

/** The requests that a server has sent in one session and that wait for their responses. */
export interface Outbox {
  /** Registers a request; `settle` hears its response, once. Answers its id. */
  register(settle: (response: ResultMessage | ErrorMessage) => void): RequestId
  /** Forgets a request whose response nobody waits for any more. */
  forget(id: RequestId): void
  /** Hands a response to the request that it answers; one that answers none is dropped. */
  settle(response: ResultMessage | ErrorMessage): void
}

/** Makes an {@link Outbox}. */
export function createOutbox(): Outbox {
  const waiting = new Map<RequestId, (response: ResultMessage | ErrorMessage) => void>()
  let ids = 0
  return {
    register(settle) {
      const id = ++ids
      waiting.set(id, settle)
      return id
    },
    forget: (id) => void waiting.delete(id),
    settle(response) {
      if (response.id === undefined) return
      const settle = waiting.get(response.id)
      waiting.delete(response.id)
      settle?.(response)
    },
  }
}
