/** Everything that a server tells of itself, in order, for tests that look at it. */
import { type ServerEvent, type ServerEvents, serverEvents, type Watchable } from "conduit-mcp"

/** One event as it was told. */
export type Told = {
  readonly [Name in ServerEvent]: { readonly name: Name; readonly event: ServerEvents[Name] }
}[ServerEvent]

/** What was told so far. */
export interface Events {
  readonly told: readonly Told[]
  /** The names, in order. */
  readonly names: readonly ServerEvent[]
  /** The events of one name. */
  of<Name extends ServerEvent>(name: Name): readonly ServerEvents[Name][]
  /** Resolves with the first event of that name, told already or later. */
  first<Name extends ServerEvent>(name: Name): Promise<ServerEvents[Name]>
}

/** Listens to everything. */
export function listenTo(server: Watchable): Events {
  const told: Told[] = []
  const waiting = new Set<() => void>()
  for (const name of serverEvents) {
    server.on(name, (event) => {
      told.push({ name, event } as Told)
      for (const look of waiting) look()
    })
  }
  const of = <Name extends ServerEvent>(name: Name): readonly ServerEvents[Name][] =>
    told.filter((one) => one.name === name).map((one) => one.event as ServerEvents[Name])
  return {
    told,
    of,
    get names() {
      return told.map(({ name }) => name)
    },
    first: (name) =>
      new Promise((resolve) => {
        const look = (): void => {
          const [event] = of(name)
          if (event === undefined) return
          waiting.delete(look)
          resolve(event)
        }
        waiting.add(look)
        look()
      }),
  }
}
