/** Revision 2025-06-18: like 2025-11-25 without icons and without what a server says of itself. */
import type { ContentBlock } from "../model/content.js"
import { encodeWithout } from "./common.js"
import type { Revision } from "./revision.js"
import { v2025_11_25 } from "./v2025-11-25.js"

const newer = v2025_11_25.encode

function isPictured(block: ContentBlock): boolean {
  return block.type === "resource_link" && block.icons !== undefined
}

/** @see https://modelcontextprotocol.io/specification/2025-06-18 */
export const v2025_06_18: Revision = {
  ...v2025_11_25,
  version: "2025-06-18",
  resumes: false,
  form: { modes: false, elicitationId: false, defaults: "boolean", titledEnums: "enumNames", lists: false },
  samplingTools: false,
  encode: {
    blocks: (blocks) =>
      blocks.some(isPictured)
        ? blocks.map((block) => (isPictured(block) ? encodeWithout(block, "icons") : block))
        : blocks,
    tool: (tool) => encodeWithout(newer.tool(tool), "icons"),
    resource: (resource) => encodeWithout(resource, "icons"),
    template: (template) => encodeWithout(template, "icons"),
    prompt: (prompt) => encodeWithout(prompt, "icons"),
    implementation: (implementation) => encodeWithout(implementation, "icons", "description", "websiteUrl"),
  },
}
