/** Which texts are a W3C `traceparent`. */
import { describe, expect, it } from "vitest"
import { isTraceparent } from "../../../src/core/feature/traceparent.js"

const TRACE = "0af7651916cd43dd8448eb211c80319c"
const PARENT = "00f067aa0ba902b7"

describe("a traceparent", () => {
  it.each([
    ["of the specification's example", `00-${TRACE}-${PARENT}-01`],
    ["that is not sampled", `00-${TRACE}-${PARENT}-00`],
    ["with flags of the future", `00-${TRACE}-${PARENT}-ff`],
    ["of a later version", `cc-${TRACE}-${PARENT}-01`],
    ["of a later version that says more", `cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`],
  ])("%s is well formed", (_, value) => {
    expect(isTraceparent(value)).toBe(true)
  })

  it.each<[string, unknown]>([
    ["that is no text", 1],
    ["that is absent", undefined],
    ["that is empty", ""],
    ["of version ff", `ff-${TRACE}-${PARENT}-01`],
    ["of version 00 that says more", `00-${TRACE}-${PARENT}-01-extra`],
    ["of version 00 with a dash at its end", `00-${TRACE}-${PARENT}-01-`],
    ["of a later version that runs on", `cc-${TRACE}-${PARENT}-01extra`],
    ["with a trace id of zeros", `00-${"0".repeat(32)}-${PARENT}-01`],
    ["with a parent id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["in upper case", `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ["with a short trace id", `00-${TRACE.slice(1)}-${PARENT}-01`],
    ["with a long parent id", `00-${TRACE}-${PARENT}0-01`],
    ["without flags", `00-${TRACE}-${PARENT}`],
    ["with spaces around", ` 00-${TRACE}-${PARENT}-01 `],
    ["with a line break at its end", `00-${TRACE}-${PARENT}-01\n`],
    ["with a line break after it in a later version", `cc-${TRACE}-${PARENT}-01-a\nb`],
    ["of a later version that never ends", `cc-${TRACE}-${PARENT}-01-${"a".repeat(10_000)}`],
  ])("%s is not", (_, value) => {
    expect(isTraceparent(value)).toBe(false)
  })
})
