/** Who somebody says they are: implementations and their icons. Self-reported, so never a basis for a decision. */

/** A picture for a user interface. Only `https:` and `data:` sources are safe to show. */
export interface Icon {
  readonly src: string
  readonly mimeType?: string
  /** Sizes such as `"48x48"`, or `"any"`. */
  readonly sizes?: readonly string[]
  readonly theme?: "light" | "dark"
}

/** The name and version of a client or server. */
export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}
