/**
 * The life of a connection as a pure machine: what is to be done when it is lost, how often, and who hears of it. The shell in
 * `connection.ts` runs the effects and says what came of them.
 */
import type { McpError } from "../../core/error/error.js"

/** Where a connection is in its life. */
export type Phase =
  /** Being made for the first time. */
  | { readonly kind: "connecting" }
  /** Messages can be sent. `attempts` were needed since the server last proved that it works. */
  | { readonly kind: "up"; readonly generation: number; readonly attempts: number }
  /** Lost, and waiting before it is made again. */
  | { readonly kind: "waiting"; readonly generation: number; readonly attempts: number; readonly cause: McpError }
  /** Lost, and being made again. */
  | { readonly kind: "healing"; readonly generation: number; readonly attempts: number; readonly cause: McpError }
  /** Lost for good, until somebody wants it again. */
  | { readonly kind: "down"; readonly generation: number; readonly cause: McpError }
  | { readonly kind: "closed" }

/** What happens to it. */
export type LifeEvent =
  /** A negotiation or a handshake came to its end. */
  | { readonly kind: "made" }
  | { readonly kind: "failed"; readonly error: McpError }
  /** The link is gone. */
  | { readonly kind: "gone"; readonly error: McpError }
  /** The server no longer knows the session in which a request of `generation` was sent. */
  | { readonly kind: "session_lost"; readonly generation: number; readonly error: McpError }
  /** A request of `generation` met a server that speaks something else than was thought. */
  | { readonly kind: "doubted"; readonly generation: number; readonly error: McpError }
  /** The server has shown that it works. */
  | { readonly kind: "proved" }
  /** The wait is over. */
  | { readonly kind: "due" }
  /** Somebody has something to send. */
  | { readonly kind: "wanted" }
  | { readonly kind: "close" }

/** What the shell is to do. */
export type Effect =
  /** Dial, and find out what the server speaks: by what is known of it, or `anew`. */
  | { readonly kind: "negotiate"; readonly anew: boolean }
  /** Shake hands again over the link that is there. */
  | { readonly kind: "reinitialize" }
  /** Come back with `due` after the wait that belongs to the attempt, counted from 1. */
  | { readonly kind: "wait"; readonly attempt: number }
  /** Let those who wait go on. */
  | { readonly kind: "release" }
  /** Tell those who wait that it is over. */
  | { readonly kind: "reject"; readonly error: McpError }
  /** Tell of the new state, and why. */
  | { readonly kind: "tell" }

/** How a connection heals. */
export interface HealingRules {
  /** Whether it does at all. */
  readonly heals: boolean
  /** How many attempts in a row are made without a sign that the server works. */
  readonly maxAttempts: number
}

/** What comes next. */
export interface Step {
  readonly phase: Phase
  readonly effects: readonly Effect[]
}

type Up = Extract<Phase, { kind: "up" }>
type Finding = Extract<LifeEvent, { kind: "session_lost" | "doubted" }>

const TELL: Effect = { kind: "tell" }
const NEGOTIATE: Effect = { kind: "negotiate", anew: false }

/** Errors that another attempt would meet again. */
function isFinal({ kind, reason }: McpError): boolean {
  return (
    kind === "authorization" ||
    kind === "protocol" ||
    kind === "misuse" ||
    kind === "policy" ||
    reason === "cannot_spawn"
  )
}

/** The next phase and its effects; the same phase without effects for an event that changes nothing. */
export function step(phase: Phase, event: LifeEvent, rules: HealingRules): Step {
  if (event.kind === "close")
    return phase.kind === "closed" ? stay(phase) : { phase: { kind: "closed" }, effects: [TELL] }
  switch (phase.kind) {
    case "connecting":
      return event.kind === "made"
        ? { phase: { kind: "up", generation: 1, attempts: 0 }, effects: [TELL] }
        : stay(phase)
    case "up":
      return whileUp(phase, event, rules)
    case "waiting":
      return event.kind === "due" ? { phase: { ...phase, kind: "healing" }, effects: [NEGOTIATE] } : stay(phase)
    case "healing":
      return whileHealing(phase, event, rules)
    case "down":
      return event.kind === "wanted" && rules.heals
        ? { phase: { ...phase, kind: "healing", attempts: rules.maxAttempts }, effects: [TELL, NEGOTIATE] }
        : stay(phase)
    default:
      return stay(phase)
  }
}

function whileUp(phase: Up, event: LifeEvent, rules: HealingRules): Step {
  const { generation, attempts } = phase
  switch (event.kind) {
    case "proved":
      return attempts === 0 ? stay(phase) : { phase: { ...phase, attempts: 0 }, effects: [] }
    case "gone":
      return lose(generation, attempts, event.error, rules)
    case "session_lost":
    case "doubted":
      return event.generation === generation ? renew(phase, event, rules) : stay(phase)
    default:
      return stay(phase)
  }
}

/** Makes anew, at once, what a request found to be no good. What the server speaks is found out even where nothing is healed. */
function renew({ generation, attempts }: Up, { kind, error }: Finding, { heals, maxAttempts }: HealingRules): Step {
  const isDoubt = kind === "doubted"
  if (attempts >= maxAttempts || !(heals || isDoubt)) return over(generation, error)
  return {
    phase: { kind: "healing", generation, attempts: attempts + 1, cause: error },
    effects: [TELL, isDoubt ? { kind: "negotiate", anew: true } : { kind: "reinitialize" }],
  }
}

function whileHealing(phase: Extract<Phase, { kind: "healing" }>, event: LifeEvent, rules: HealingRules): Step {
  const { generation, attempts } = phase
  switch (event.kind) {
    case "made":
      return { phase: { kind: "up", generation: generation + 1, attempts }, effects: [TELL, { kind: "release" }] }
    case "failed":
      return lose(generation, attempts, event.error, rules)
    default:
      return stay(phase)
  }
}

/** What is done about a connection that is not there: another attempt, or none. */
function lose(generation: number, attempts: number, cause: McpError, { heals, maxAttempts }: HealingRules): Step {
  if (!heals || attempts >= maxAttempts || isFinal(cause)) return over(generation, cause)
  const attempt = attempts + 1
  return {
    phase: { kind: "waiting", generation, attempts: attempt, cause },
    effects: [TELL, { kind: "wait", attempt }],
  }
}

function over(generation: number, cause: McpError): Step {
  return { phase: { kind: "down", generation, cause }, effects: [TELL, { kind: "reject", error: cause }] }
}

function stay(phase: Phase): Step {
  return { phase, effects: [] }
}
