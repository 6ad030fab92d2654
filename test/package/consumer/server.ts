/** What someone who installed the package writes: a server, and its handler for any runtime that has `fetch`. */
import { content, createServer, fail, prompt, resource, resourceTemplate, tool, user } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { z } from "zod"

const forecast = tool(
  "get_forecast",
  {
    description: "Forecast for a city",
    input: z.object({ city: z.string() }),
    output: z.object({ celsius: z.number() }),
  },
  async ({ city }, ctx) => {
    ctx.progress(1, 1)
    return city === "" ? fail("Which city?") : { celsius: city.length }
  },
)
const picture = tool("picture", { description: "One grey pixel" }, () => [
  content.text("A pixel"),
  content.image("R0lGODdh", "image/gif"),
])
const readme = resource("file:///readme.md", { name: "readme", mimeType: "text/markdown" }, async () => "# hi")
const place = resourceTemplate("weather://{city}", { name: "city" }, async ({ city }) => ({
  place: city.toUpperCase(),
}))
const review = prompt("review", { args: z.object({ code: z.string() }) }, ({ code }) => [user(code)])

const server = createServer({
  name: "consumer",
  version: "1.0.0",
  tools: [forecast, picture],
  resources: [readme, place],
  prompts: [review],
})

export const handler: (request: Request) => Promise<Response> = createFetchHandler(server)
