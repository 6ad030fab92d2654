/** What a feature of the suite is made of, and the stage on which it is tried. */
import { expect } from "vitest"
import type { Json } from "../support/wire.js"
import type { InteropClient } from "./client.js"
import type { Combination, Lack } from "./combination.js"

/** A connected client, and what its server says beside the protocol. */
export interface Stage {
  readonly combination: Combination
  readonly client: InteropClient
  /** The URL of the server; undefined on standard streams. */
  readonly url: string | undefined
  /** Connects another client of the same kind; it is closed after the test. */
  connect(): Promise<Stage>
  /** What the server has said on stderr since the stage was set or the last call. */
  heard(): string
}

/** One thing that clients do. */
export interface Feature {
  readonly name: string
  /** The combinations that cannot have it. */
  readonly lacks: readonly Lack[]
  run(stage: Stage): Promise<void>
}

/** A feature that every combination has. */
export function everywhere(name: string, run: Feature["run"]): Feature {
  return { name, lacks: [], run }
}

/** A feature that some combinations cannot have. */
export function except(name: string, lacks: readonly Lack[], run: Feature["run"]): Feature {
  return { name, lacks, run }
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  expect(outcome, "the promise rejects").toHaveProperty("error")
  return "error" in outcome ? outcome.error : undefined
}

/** The text of a result's only block. */
export function onlyText(result: Json): string {
  expect(result["content"]).toHaveLength(1)
  expect(result["content"]).toMatchObject([{ type: "text", text: expect.any(String) }])
  return (result["content"] as [{ text: string }])[0].text
}

/** The entries of a list under one key, as a list of one member of theirs. */
export function pick(result: Json, list: string, member: string): unknown[] {
  return (result[list] as Json[]).map((entry) => entry[member])
}

/** The bytes with which every PNG file starts, as base64. */
export const PNG = /^iVBORw0KGgo/
