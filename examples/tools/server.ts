/** Tools: what a handler may return, from a plain text to every kind of content. */
import { content, createServer, result, tool } from "conduit-mcp"
import { z } from "zod"

/** A string is one block of text. */
const greet = tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => `Hello ${name}.`)

/** Any other JSON value is sent twice: as text for a model that reads, as structured content for a program. */
const measure = tool("measure", { input: z.object({ text: z.string() }) }, ({ text }) => ({
  letters: text.length,
  words: text.split(/\s+/).filter((word) => word !== "").length,
}))

/** A picture of one red pixel, as base64. Bytes (a `Uint8Array`) are taken as well. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

const draw = tool("draw", { description: "Draws a red pixel" }, () => content.image(PIXEL, "image/png"))

/** Two samples of silence in a WAV file, as bytes. */
const SILENCE = Uint8Array.of(
  ...new TextEncoder().encode("RIFF&\0\0\0WAVEfmt "),
  ...[16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0],
  ...new TextEncoder().encode("data"),
  ...[2, 0, 0, 0, 128, 128],
)

const play = tool("play", { description: "Plays silence" }, () => content.audio(SILENCE, "audio/wav"))

/** Several blocks: a text, a link to a resource, and a resource that is embedded. Annotations say whom a block is for. */
const cite = tool("cite", { description: "Cites its sources" }, () => [
  content.text("Water boils at 100 °C.", { annotations: { audience: ["user"], priority: 1 } }),
  content.link("https://example.com/water", "water", { mimeType: "text/html" }),
  content.embed({ uri: "note:///water", mimeType: "text/plain", text: "At sea level, that is." }),
])

/** When a value does not say enough: text, structured content and `_meta` by hand. */
const count = tool("count", { input: z.object({ to: z.int().min(1).max(100) }) }, ({ to }) =>
  result({ content: `I counted to ${to}.`, structured: { to }, meta: { "example.com/method": "fingers" } }),
)

export const server = createServer({
  name: "tools",
  version: "1.0.0",
  tools: [greet, measure, draw, play, cite, count],
})
