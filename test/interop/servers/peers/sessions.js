// HTTP with sessions, as the transports of both versions of the official SDK have them: each with a store of what was said, so
// that streams can be gone on with.
import { randomUUID } from "node:crypto"

const sessions = new Map()

/** Lets go of a session, so that it is unknown from then on. */
export const forget = (id) => void sessions.delete(id)

/** Answers requests by the transports of their sessions; `build` makes a server for each. */
export function createSessionHandler(Transport, build) {
  return async (incoming, response) => {
    const id = incoming.headers["mcp-session-id"]
    const known = sessions.get(id)
    if (known !== undefined) return known.handleRequest(incoming, response)
    if (id !== undefined) return response.writeHead(404).end()
    const transport = new Transport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (made) => void sessions.set(made, transport),
      eventStore: createEventStore(),
      retryInterval: 20,
    })
    transport.onclose = () => sessions.delete(transport.sessionId)
    await build().connect(transport)
    await transport.handleRequest(incoming, response)
  }
}

function createEventStore() {
  const events = []
  return {
    async storeEvent(stream, message) {
      return String(events.push({ stream, message }))
    },
    async replayEventsAfter(last, { send }) {
      const { stream } = events[Number(last) - 1]
      for (const [index, event] of events.entries()) {
        if (index >= Number(last) && event.stream === stream) await send(String(index + 1), event.message)
      }
      return stream
    },
  }
}
