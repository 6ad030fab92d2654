/** The port of pipes: an ordered, reliable channel of messages with two ends. */

/** One end of a channel. Messages are JSON texts. */
export interface Channel {
  send(text: string): void
  /** Resolves once what was sent has left. */
  flush(): Promise<void>
  /** Closes both ends. */
  close(): void
}
