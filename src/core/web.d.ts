/**
 * The four web types that `core` may use, by structure. Everything else of the platform (fetch, timers, console, process)
 * does not compile in this layer. This file is not shipped.
 */
declare class TextEncoder {
  encode(input?: string): Uint8Array
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(input?: Uint8Array): string
}
declare class URL {
  constructor(url: string, base?: string)
  readonly hostname: string
  readonly host: string
  readonly origin: string
  readonly pathname: string
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly port: string
  readonly search: string
  readonly hash: string
  readonly href: string
}
interface AbortSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: "abort", listener: () => void): void
}
