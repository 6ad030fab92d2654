/** The life of a connection as a table, every phase by every event, and what holds of every life. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Effect, type HealingRules, type LifeEvent, type Phase, step } from "../../src/client/connection/step.js"
import { McpError } from "../../src/core/error/error.js"

const lost = new McpError("the process exited", { kind: "connection_down", reason: "process_exited", retryable: true })
const refused = new McpError("no answer", { kind: "transport", reason: "network_error", retryable: true })
const final = new McpError("credentials", { kind: "authorization", reason: "unauthenticated" })
const forgotten = new McpError("no session", { kind: "protocol", reason: "session_not_found", retryable: true })

const MAX = 3
const heals: HealingRules = { heals: true, maxAttempts: MAX }
const heeds: HealingRules = { heals: false, maxAttempts: MAX }

const phases = {
  connecting: { kind: "connecting" },
  up: { kind: "up", generation: 4, attempts: 0 },
  "up after 2": { kind: "up", generation: 4, attempts: 2 },
  "up after all": { kind: "up", generation: 4, attempts: MAX },
  waiting: { kind: "waiting", generation: 4, attempts: 2, cause: lost },
  healing: { kind: "healing", generation: 4, attempts: 2, cause: lost },
  "healing for the last time": { kind: "healing", generation: 4, attempts: MAX, cause: lost },
  down: { kind: "down", generation: 4, cause: lost },
  closed: { kind: "closed" },
} as const satisfies Record<string, Phase>
type PhaseName = keyof typeof phases

const events = {
  made: { kind: "made" },
  failed: { kind: "failed", error: refused },
  "failed for good": { kind: "failed", error: final },
  gone: { kind: "gone", error: lost },
  "gone for good": { kind: "gone", error: final },
  session_lost: { kind: "session_lost", generation: 4, error: forgotten },
  "session_lost of old": { kind: "session_lost", generation: 3, error: forgotten },
  doubted: { kind: "doubted", generation: 4, error: refused },
  "doubted of old": { kind: "doubted", generation: 3, error: refused },
  proved: { kind: "proved" },
  due: { kind: "due" },
  wanted: { kind: "wanted" },
  close: { kind: "close" },
} as const satisfies Record<string, LifeEvent>
type EventName = keyof typeof events

const tell: Effect = { kind: "tell" }
const release: Effect = { kind: "release" }
const negotiate: Effect = { kind: "negotiate", anew: false }
const reinitialize: Effect = { kind: "reinitialize" }
const reject = (error: McpError): Effect => ({ kind: "reject", error })
const wait = (attempt: number): Effect => ({ kind: "wait", attempt })
const down = (cause: McpError): Phase => ({ kind: "down", generation: 4, cause })

type Row = readonly [phase: PhaseName, event: EventName, next: Phase, effects: readonly Effect[]]

/** All that changes anything. */
const rows: readonly Row[] = [
  ["connecting", "made", { kind: "up", generation: 1, attempts: 0 }, [tell]],

  ["up", "gone", { kind: "waiting", generation: 4, attempts: 1, cause: lost }, [tell, wait(1)]],
  ["up", "gone for good", down(final), [tell, reject(final)]],
  ["up", "session_lost", { kind: "healing", generation: 4, attempts: 1, cause: forgotten }, [tell, reinitialize]],
  [
    "up",
    "doubted",
    { kind: "healing", generation: 4, attempts: 1, cause: refused },
    [tell, { kind: "negotiate", anew: true }],
  ],

  ["up after 2", "proved", { kind: "up", generation: 4, attempts: 0 }, []],
  ["up after 2", "gone", { kind: "waiting", generation: 4, attempts: 3, cause: lost }, [tell, wait(3)]],
  ["up after 2", "gone for good", down(final), [tell, reject(final)]],
  [
    "up after 2",
    "session_lost",
    { kind: "healing", generation: 4, attempts: 3, cause: forgotten },
    [tell, reinitialize],
  ],
  [
    "up after 2",
    "doubted",
    { kind: "healing", generation: 4, attempts: 3, cause: refused },
    [tell, { kind: "negotiate", anew: true }],
  ],

  ["up after all", "proved", { kind: "up", generation: 4, attempts: 0 }, []],
  ["up after all", "gone", down(lost), [tell, reject(lost)]],
  ["up after all", "gone for good", down(final), [tell, reject(final)]],
  ["up after all", "session_lost", down(forgotten), [tell, reject(forgotten)]],
  ["up after all", "doubted", down(refused), [tell, reject(refused)]],

  ["waiting", "due", { kind: "healing", generation: 4, attempts: 2, cause: lost }, [negotiate]],

  ["healing", "made", { kind: "up", generation: 5, attempts: 2 }, [tell, release]],
  ["healing", "failed", { kind: "waiting", generation: 4, attempts: 3, cause: refused }, [tell, wait(3)]],
  ["healing", "failed for good", down(final), [tell, reject(final)]],

  ["healing for the last time", "made", { kind: "up", generation: 5, attempts: MAX }, [tell, release]],
  ["healing for the last time", "failed", down(refused), [tell, reject(refused)]],
  ["healing for the last time", "failed for good", down(final), [tell, reject(final)]],

  ["down", "wanted", { kind: "healing", generation: 4, attempts: MAX, cause: lost }, [tell, negotiate]],

  ...(Object.keys(phases) as PhaseName[])
    .filter((name) => name !== "closed")
    .map((name): Row => [name, "close", { kind: "closed" }, [tell]]),
]

/** What is different for a client that is told not to heal: what is lost is lost, and only doubts are looked into. */
const unhealed: readonly Row[] = [
  ...(["up", "up after 2"] as const).flatMap((name): Row[] => [
    [name, "gone", down(lost), [tell, reject(lost)]],
    [name, "session_lost", down(forgotten), [tell, reject(forgotten)]],
  ]),
  ["healing", "failed", down(refused), [tell, reject(refused)]],
  ["down", "wanted", phases.down, []],
]

const same = (a: Row, b: Row): boolean => a[0] === b[0] && a[1] === b[1]

describe("the life of a connection", () => {
  it.each(rows)("%s, %s", (phase, event, next, effects) => {
    expect(step(phases[phase], events[event], heals)).toEqual({ phase: next, effects })
  })

  it.each([...rows.filter((row) => !unhealed.some((other) => same(row, other))), ...unhealed])(
    "without healing: %s, %s",
    (phase, event, next, effects) => {
      expect(step(phases[phase], events[event], heeds)).toEqual({ phase: next, effects })
    },
  )

  it("is changed by nothing else", () => {
    const names = Object.keys(events) as EventName[]
    for (const phase of Object.keys(phases) as PhaseName[]) {
      for (const event of names.filter((name) => !rows.some((row) => row[0] === phase && row[1] === name))) {
        for (const rules of [heals, heeds]) {
          const next = step(phases[phase], events[event], rules)
          expect(next.phase, `${phase}, ${event}`).toBe(phases[phase])
          expect(next.effects, `${phase}, ${event}`).toEqual([])
        }
      }
    }
  })

  it.each<[kind: McpError["kind"], reason: McpError["reason"], isFinal: boolean]>([
    ["authorization", "forbidden", true],
    ["protocol", "no_common_version", true],
    ["misuse", "invalid_option", true],
    ["policy", "jsonrpc", true],
    ["transport", "cannot_spawn", true],
    ["transport", "network_error", false],
    ["transport", "http_status", false],
    ["timeout", "connect_timeout", false],
    ["connection_down", "pipe_closed", false],
  ])("ends for good by %s, %s: %s", (kind, reason, isFinal) => {
    const error = new McpError("", { kind, reason })
    expect(step(phases.healing, { kind: "failed", error }, heals).phase.kind).toBe(isFinal ? "down" : "waiting")
    expect(step(phases.up, { kind: "gone", error }, heals).phase.kind).toBe(isFinal ? "down" : "waiting")
  })
})

/** A life as a shell lives it: whatever an effect begins comes to an end, and nothing is told of what was not begun. */
class Life {
  phase: Phase = { kind: "connecting" }
  /** What was begun and is to be told. */
  open: "making" | "waiting" | undefined = "making"
  /** Attempts in a row that nobody asked for, without a sign of life. */
  attempts = 0
  waiting = 0
  released = 0
  rejected = 0
  readonly #rules: HealingRules

  constructor(rules: HealingRules) {
    this.#rules = rules
  }

  happen(event: LifeEvent): void {
    const before = this.phase
    const { phase, effects } = step(before, event, this.#rules)
    this.phase = phase
    if (event.kind === "proved" && before.kind === "up") this.attempts = 0
    if (event.kind === "made" || event.kind === "failed" || event.kind === "due") this.open = undefined
    for (const effect of effects) {
      if (effect.kind === "negotiate" || effect.kind === "reinitialize") {
        this.open = "making"
        if (event.kind !== "wanted") this.attempts++
      }
      if (effect.kind === "wait") this.open = "waiting"
      if (effect.kind === "release") this.#settle("released")
      if (effect.kind === "reject") this.#settle("rejected")
    }
    if (event.kind === "close") this.#settle("rejected")
  }

  /** Somebody who has something to send: waits, where the connection is coming back. */
  send(): void {
    this.happen({ kind: "wanted" })
    if (this.phase.kind === "waiting" || this.phase.kind === "healing") this.waiting++
  }

  #settle(how: "released" | "rejected"): void {
    this[how] += this.waiting
    this.waiting = 0
  }
}

const rulesOf = fc.record({ heals: fc.boolean(), maxAttempts: fc.integer({ min: 1, max: 6 }) })
const happenings = fc.array(
  fc.constantFrom("end", "fail", "gone", "lose session", "stale session", "doubt", "prove", "send"),
  { maxLength: 60 },
)

function live(life: Life, what: string): void {
  const generation = "generation" in life.phase ? life.phase.generation : 0
  switch (what) {
    case "end":
    case "fail":
      if (life.open === "waiting") life.happen({ kind: "due" })
      else if (life.open === "making" && what === "end") life.happen({ kind: "made" })
      else if (life.open === "making") life.happen({ kind: "failed", error: refused })
      return
    case "gone":
      return life.happen({ kind: "gone", error: lost })
    case "lose session":
      return life.happen({ kind: "session_lost", generation, error: forgotten })
    case "stale session":
      return life.happen({ kind: "session_lost", generation: generation - 1, error: forgotten })
    case "doubt":
      return life.happen({ kind: "doubted", generation, error: refused })
    case "prove":
      return life.happen({ kind: "proved" })
    default:
      return life.send()
  }
}

describe("every life", () => {
  it("that is closed stays closed, without another effect", () => {
    fc.assert(
      fc.property(rulesOf, happenings, happenings, (rules, before, after) => {
        const life = new Life(rules)
        for (const what of before) live(life, what)
        life.happen({ kind: "close" })
        expect(life.waiting).toBe(0)
        for (const what of after) {
          const { phase } = life
          live(life, what)
          expect(life.phase).toBe(phase)
          expect(life.waiting).toBe(0)
        }
      }),
    )
  })

  it("has no more attempts in a row than are allowed, but those that somebody asks for", () => {
    fc.assert(
      fc.property(rulesOf, happenings, (rules, story) => {
        const life = new Life(rules)
        for (const what of story) {
          live(life, what)
          expect(life.attempts).toBeLessThanOrEqual(rules.maxAttempts)
        }
      }),
    )
  })

  it("comes to rest up, down or closed; who waited was let go or told, once", () => {
    fc.assert(
      fc.property(rulesOf, happenings, fc.infiniteStream(fc.constantFrom("end", "fail")), (rules, story, ends) => {
        const life = new Life(rules)
        let sent = 0
        for (const what of ["end", ...story]) {
          live(life, what)
          if (what === "send" && (life.phase.kind === "waiting" || life.phase.kind === "healing")) sent++
        }
        for (let steps = 0; life.open !== undefined; steps++) {
          live(life, ends.next().value ?? "fail")
          expect(steps).toBeLessThanOrEqual(2 * rules.maxAttempts + 1)
        }
        expect(["up", "down"]).toContain(life.phase.kind)
        expect(life.waiting).toBe(0)
        expect(life.released + life.rejected).toBe(sent)
      }),
    )
  })

  it("is changed by nothing that is told of an earlier session or link", () => {
    fc.assert(
      fc.property(rulesOf, happenings, (rules, story) => {
        const life = new Life(rules)
        for (const what of story) {
          live(life, what)
          const { phase } = life
          const generation = "generation" in phase ? phase.generation - 1 : 0
          const stale: LifeEvent[] = [
            { kind: "session_lost", generation, error: forgotten },
            { kind: "doubted", generation, error: refused },
            ...(phase.kind === "up" ? [] : [{ kind: "gone", error: lost } as const]),
          ]
          for (const event of stale) expect(step(phase, event, rules)).toEqual({ phase, effects: [] })
        }
      }),
    )
  })
})
