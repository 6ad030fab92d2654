/** The resources that the official harness lists and reads. */
import { Buffer } from "node:buffer"
import { resource, resourceTemplate } from "conduit-mcp"
import { pngBase64 } from "./media.js"

const text = resource(
  "test://static-text",
  { name: "static-text", description: "A text that never changes", mimeType: "text/plain" },
  () => "The text of a resource that never changes.",
)

const binary = resource(
  "test://static-binary",
  { name: "static-binary", description: "An image that never changes", mimeType: "image/png" },
  () => Buffer.from(pngBase64, "base64"),
)

const watched = resource(
  "test://watched-resource",
  { name: "watched-resource", description: "A text that can be watched", mimeType: "text/plain" },
  () => "The text of a resource that can be watched.",
)

const templated = resourceTemplate(
  "test://template/{id}/data",
  { name: "template-data", description: "The data of an id", mimeType: "application/json" },
  ({ id }) => ({ id, data: `Data of ${id}` }),
)

/** All of them, in the order in which they are listed. */
export const resources = [text, binary, watched, templated]
