/** Which `_meta` keys are valid, which the specification keeps, and which a client leaves out. */
import { describe, expect, it } from "vitest"
import { isDroppedMetaKey, isMetaKey, isReservedMetaKey } from "../../../src/core/feature/meta-key.js"

describe("a _meta key", () => {
  it.each([
    "name",
    "a",
    "9",
    "a_b-c.d",
    "",
    "com.example/name",
    "com.example/",
    "example/name",
    "x1.y-2.z3/9.a",
    "io.modelcontextprotocol/protocolVersion",
    "progressToken",
    "traceparent",
  ])("%j is valid", (key) => {
    expect(isMetaKey(key)).toBe(true)
  })

  it.each([
    "-a",
    "a-",
    "_a",
    ".a",
    "a.",
    "a b",
    "é",
    "/name",
    "1com/name",
    "-com/name",
    "com-/name",
    "com..example/name",
    ".com/name",
    "com./name",
    "com_x/name",
    "com/example/name",
    "com.example/-name",
    "com.example/na me",
    "a\n",
  ])("%j is not valid", (key) => {
    expect(isMetaKey(key)).toBe(false)
  })

  it.each([
    ["io.modelcontextprotocol/x", true, true],
    ["dev.mcp/x", true, true],
    ["org.modelcontextprotocol.api/x", true, true],
    ["com.mcp.tools/x", true, true],
    ["com.example.mcp/x", false, true],
    ["mcp/x", false, true],
    ["mcp.dev/x", false, true],
    ["modelcontextprotocol.io/x", false, true],
    ["a.b.c.modelcontextprotocol/x", false, true],
    ["com.example/mcp", false, false],
    ["com.example/x", false, false],
    ["com.mcpx/x", false, false],
    ["com.my-mcp/x", false, false],
    ["mcp", false, false],
    ["dev.mcp", false, false],
    ["trace", false, false],
    ["traceparent", false, false],
    ["progressToken", false, true],
    ["com.example/progressToken", false, false],
    ["", false, false],
  ])("%j is reserved: %j, dropped by a client: %j", (key, reserved, dropped) => {
    expect(isReservedMetaKey(key)).toBe(reserved)
    expect(isDroppedMetaKey(key)).toBe(dropped)
  })
})
