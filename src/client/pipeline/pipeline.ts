/** The stages of a call in their order, made one function once for each client. */
import type { Next, Stage } from "./stage.js"

/** Puts stages around `send`, the first outermost. */
export function createPipeline(stages: readonly Stage[], send: Next): Next {
  return stages.reduceRight<Next>((next, stage) => (call, attempt) => stage(call, attempt, next), send)
}
