/** The histograms of one side, on whichever meter is registered. */
import { type Histogram, metrics } from "@opentelemetry/api"
import { SCOPE } from "./span.js"

/** In seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** What is measured. */
export interface Instruments {
  readonly operation: Histogram
  readonly session: Histogram
}

/** Answers the instruments of the provider that is registered now: those that came before one was stay mute. */
export function createInstruments(side: "client" | "server"): () => Instruments {
  let provider: unknown
  let instruments: Instruments | undefined
  return () => {
    const current = metrics.getMeterProvider()
    if (current !== provider || instruments === undefined) {
      const meter = metrics.getMeter(SCOPE)
      const options = { unit: "s", advice: { explicitBucketBoundaries: BUCKETS } }
      provider = current
      instruments = {
        operation: meter.createHistogram(`mcp.${side}.operation.duration`, {
          description: "How long a request took",
          ...options,
        }),
        session: meter.createHistogram(`mcp.${side}.session.duration`, {
          description: "How long a session lasted",
          ...options,
        }),
      }
    }
    return instruments
  }
}
