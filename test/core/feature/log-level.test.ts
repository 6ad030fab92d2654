/** The eight levels and their order. */
import { describe, expect, it } from "vitest"
import { atLeast, isLogLevel, LOG_LEVELS } from "../../../src/core/feature/log-level.js"

describe("log levels", () => {
  it("are the eight of syslog, the least severe first", () => {
    expect(LOG_LEVELS.join(" ")).toBe("debug info notice warning error critical alert emergency")
  })

  it("let through what is at least as severe as was asked for", () => {
    for (const [rank, level] of LOG_LEVELS.entries()) {
      expect(LOG_LEVELS.filter((minimum) => atLeast(level, minimum))).toEqual(LOG_LEVELS.slice(0, rank + 1))
    }
  })

  it.each(["trace", "warn", "DEBUG", "", 3, null, undefined, ["debug"], "toString"])("do not include %j", (value) => {
    expect(isLogLevel(value)).toBe(false)
  })

  it.each([...LOG_LEVELS])("include %j", (value) => {
    expect(isLogLevel(value)).toBe(true)
  })
})
