/** Everything that clients tell of themselves, in order, for tests that look at it. */
import { type ClientEvent, type ClientEvents, type ClientWatcher, clientEvents } from "conduit-mcp/client"

/** One event as it was told. */
export type ToldByClient = {
  readonly [Name in ClientEvent]: readonly [name: Name, event: ClientEvents[Name]]
}[ClientEvent]

/** A watcher that remembers. */
export interface Recorder extends Pick<ClientWatcher, "watchClient"> {
  readonly told: readonly ToldByClient[]
  /** The names, in order; those that begin with a prefix. */
  names(prefix?: string): readonly ClientEvent[]
  /** The events of one name. */
  of<Name extends ClientEvent>(name: Name): readonly ClientEvents[Name][]
  /** Resolves with the first event of that name, told already or later. */
  first<Name extends ClientEvent>(name: Name): Promise<ClientEvents[Name]>
}

/** Makes a {@link Recorder}. */
export function createRecorder(): Recorder {
  const told: ToldByClient[] = []
  const waiting = new Set<() => void>()
  const of = <Name extends ClientEvent>(name: Name): readonly ClientEvents[Name][] =>
    told.filter(([told]) => told === name).map(([, event]) => event as ClientEvents[Name])
  return {
    told,
    of,
    names: (prefix = "") => told.map(([name]) => name).filter((name) => name.startsWith(prefix)),
    watchClient(client) {
      for (const name of clientEvents) {
        client.on(name, (event) => {
          told.push([name, event] as unknown as ToldByClient)
          for (const look of waiting) look()
        })
      }
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
