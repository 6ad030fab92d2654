/** Carries events to listeners, and to Node's diagnostics channels. Nothing is made for an event that nobody waits for. */

/** One kind of event. */
export interface Topic<Event> {
  /** Whether anybody waits for it: to be asked before an event is made. */
  readonly watched: boolean
  /** Tells everybody, at once and in turn. A listener that fails harms nobody. */
  publish(event: Event): void
}

/** The topics of a map of events, by name. */
export type Topics<Events> = { readonly [Name in keyof Events]: Topic<Events[Name]> }

/** Hears events of one kind. What it returns is dropped. */
export type Listener<Event> = (event: Event) => unknown

/** Topics, and who listens to them. */
export interface Emitter<Events> {
  readonly topics: Topics<Events>
  /** Calls `listener` with every event of that name. Answers the function that ends it. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void
  /** Ends what {@link on} began; nothing happens when it did not. */
  off<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): void
}

/** The part of `node:diagnostics_channel` that is used. */
interface Channel {
  readonly hasSubscribers: boolean
  publish(message: unknown): void
}

/** Makes an {@link Emitter}. `report` hears which listener failed. */
export function createEmitter<Events extends object>(
  names: readonly (keyof Events & string)[],
  report: (name: string, error: unknown) => void,
): Emitter<Events> {
  const openChannel = findChannels()
  const topics = Object.fromEntries(
    names.map((name) => [
      name,
      new ListenedTopic(openChannel?.(`conduit-mcp:${name}`), (error) => report(name, error)),
    ]),
  ) as { readonly [Name in keyof Events]: ListenedTopic<Events[Name]> }
  return {
    topics,
    on(name, listener) {
      const topic = topics[name]
      topic.add(listener)
      return () => topic.delete(listener)
    },
    off: (name, listener) => topics[name].delete(listener),
  }
}

class ListenedTopic<Event> implements Topic<Event> {
  readonly #channel: Channel | undefined
  readonly #report: (error: unknown) => void
  /** Replaced when it changes, so that whoever is being told is told to the end. */
  #listeners: readonly Listener<Event>[] = []

  constructor(channel: Channel | undefined, report: (error: unknown) => void) {
    this.#channel = channel
    this.#report = report
  }

  get watched(): boolean {
    return this.#listeners.length > 0 || this.#channel?.hasSubscribers === true
  }

  publish(event: Event): void {
    for (const listener of this.#listeners) {
      try {
        const returned = listener(event)
        if (returned instanceof Promise) returned.catch(this.#report)
      } catch (error) {
        this.#report(error)
      }
    }
    if (this.#channel?.hasSubscribers === true) this.#channel.publish(event)
  }

  add(listener: Listener<Event>): void {
    if (!this.#listeners.includes(listener)) this.#listeners = [...this.#listeners, listener]
  }

  delete(listener: Listener<Event>): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }
}

/** How channels are opened, where there are any. Asked of the process, so that nothing of Node is imported. */
function findChannels(): ((name: string) => Channel) | undefined {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(id: string): unknown } }
  const found = process?.getBuiltinModule?.("node:diagnostics_channel")
  return (found as { readonly channel: (name: string) => Channel } | undefined)?.channel
}
