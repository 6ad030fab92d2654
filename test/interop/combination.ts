/** Every client on every transport, what each of them speaks, and what a combination cannot have. */
import { type ClientName, clientNames, type TransportName, transportNames } from "./client.js"

/** One client on one transport. */
export interface Combination {
  readonly name: string
  /** What the table writes over it: transport, client, version. */
  readonly heads: readonly [string, string, string]
  readonly client: ClientName
  readonly transport: TransportName
  readonly era: "legacy" | "modern"
  /** The version that the two have to agree on. */
  readonly version: string
}

const versions: Readonly<Record<ClientName, string>> = {
  v1: "2025-11-25",
  "v2 legacy": "2025-11-25",
  "v2 legacy 2025-06-18": "2025-06-18",
  "v2 auto": "2026-07-28",
  "v2 pinned 2026-07-28": "2026-07-28",
}

/** All of them. */
export const combinations: readonly Combination[] = transportNames.flatMap((transport) =>
  clientNames.map((client): Combination => {
    const version = versions[client]
    const era = version === "2026-07-28" ? "modern" : "legacy"
    const [sdk = "", mode = ""] = client.split(" ")
    const heads = [transport, `${sdk} ${mode}`, version] as const
    return { name: `${client} over ${transport}`, heads, client, transport, era, version }
  }),
)

/** Why a combination does not have a feature. */
export interface Lack {
  readonly when: Partial<Pick<Combination, "era" | "transport">>
  readonly reason: string
}

/** The reason for which a combination lacks what has these gaps; undefined when it has it. */
export function lackOf(combination: Combination, lacks: readonly Lack[]): string | undefined {
  return lacks.find(({ when: { era, transport } }) => {
    return (
      (era === undefined || era === combination.era) && (transport === undefined || transport === combination.transport)
    )
  })?.reason
}
