/** The example server: tools, resources, prompts and completion over made-up weather. It is served by `server.ts` and `stdio.ts`. */
import { setTimeout } from "node:timers/promises"
import { assistant, content, createServer, fail, prompt, resource, resourceTemplate, tool, user } from "conduit-mcp"
import { z } from "zod"
import { drawMap } from "./map.js"
import { citiesLike, findStation, report, skies, stations } from "./stations.js"

const noStation = (city: string) => `There is no station in ${city}. Try ${citiesLike("").slice(0, 5).join(", ")}.`

const forecast = tool(
  "get_forecast",
  {
    title: "Forecast",
    description: "The forecast for a city",
    input: z.object({ city: z.string().describe("Such as Oslo") }),
    output: z.object({ celsius: z.number(), sky: z.enum(skies) }),
    annotations: { readOnlyHint: true },
  },
  ({ city }) => {
    const station = findStation(city)
    return station === undefined ? fail(noStation(city)) : report(station)
  },
)

const watchSky = tool(
  "watch_sky",
  {
    title: "Watch the sky",
    description: "Watches the sky over a city for a moment, and reports progress while it does",
    input: z.object({
      city: z.string(),
      looks: z.int().min(3).max(20).default(4).describe("How often to look up"),
      everyMs: z.int().min(0).max(5_000).default(250).describe("Milliseconds between two looks"),
    }),
    annotations: { readOnlyHint: true },
  },
  async ({ city, looks, everyMs }, ctx) => {
    const station = findStation(city)
    if (station === undefined) return fail(noStation(city))
    ctx.log.info("watching the sky", { city })
    for (let look = 1; look <= looks; look++) {
      await setTimeout(everyMs, undefined, { signal: ctx.signal })
      ctx.progress(look, looks, `look ${look} of ${looks}`)
    }
    return `Looked ${looks} times: the sky over ${station.city} is ${report(station).sky}.`
  },
)

const weatherMap = tool(
  "weather_map",
  { title: "Weather map", description: "Every station on a map, blue to red", annotations: { readOnlyHint: true } },
  () => [content.text(`${stations.length} stations.`), content.image(drawMap(stations), "image/png")],
)

const convert = tool(
  "convert",
  {
    title: "Convert a temperature",
    description: "Converts a temperature between Celsius and Fahrenheit",
    input: z.object({ degrees: z.number(), to: z.enum(["celsius", "fahrenheit"]) }),
    annotations: { readOnlyHint: true },
  },
  ({ degrees, to }) =>
    to === "fahrenheit"
      ? `${degrees} °C = ${((degrees * 9) / 5 + 32).toFixed(1)} °F`
      : `${degrees} °F = ${(((degrees - 32) * 5) / 9).toFixed(1)} °C`,
)

const listStations = tool(
  "list_stations",
  {
    title: "Stations of a region",
    description: "Links to the stations of a region. Over HTTP, the header Mcp-Param-Region repeats the region",
    input: z.object({
      region: z.enum(["africa", "americas", "asia", "europe", "oceania"]).meta({ "x-mcp-header": "Region" }),
    }),
    annotations: { readOnlyHint: true },
  },
  ({ region }) =>
    stations
      .filter((station) => station.region === region)
      .map(({ city, country }) =>
        content.link(`weather://${encodeURIComponent(city)}`, city, { description: country }),
      ),
)

const failAlways = tool("fail_always", { title: "Fail", description: "Fails on purpose, to see how that looks" }, () =>
  fail("The barometer is broken. This tool always fails."),
)

const readme = resource(
  "file:///readme.md",
  { name: "readme", title: "About this server", mimeType: "text/markdown" },
  () => `# Weather\n\n${stations.length} stations, all made up. Ask \`get_forecast\` for one of them.\n`,
)

const map = resource(
  "file:///map.png",
  { name: "map", title: "The weather map", mimeType: "image/png", freshness: { ttlMs: 60_000, cacheScope: "public" } },
  () => drawMap(stations),
)

const cityWeather = resourceTemplate(
  "weather://{city}",
  {
    name: "city",
    title: "Weather of a city",
    mimeType: "application/json",
    complete: { city: citiesLike },
  },
  ({ city }) => {
    const station = findStation(city)
    return station === undefined ? undefined : { ...station, ...report(station) }
  },
)

const planTrip = prompt(
  "plan_trip",
  {
    title: "Plan a trip",
    description: "Asks for a plan that suits the weather",
    args: z.object({
      city: z.string().describe("Where to"),
      days: z.string().regex(/^\d+$/).optional().describe("For how many days"),
    }),
    complete: { city: citiesLike, days: (typed) => ["2", "3", "7"].filter((days) => days.startsWith(typed)) },
  },
  ({ city, days = "3" }) => {
    const station = findStation(city)
    const weather =
      station === undefined ? "unknown weather" : `${report(station).celsius} °C and a ${report(station).sky} sky`
    return [
      user(`Plan a trip of ${days} days to ${city}.`),
      assistant(`I see ${weather} there. What do you like?`),
      user("Walks, food and museums. Suit the plan to the weather."),
    ]
  },
)

/** The server, to be served by any transport. */
export const server = createServer({
  name: "weather",
  version: "1.0.0",
  title: "Weather",
  instructions: "Made-up weather for a few cities. list_stations names them; get_forecast has the forecast.",
  tools: [forecast, watchSky, weatherMap, convert, listStations, failAlways],
  resources: [readme, map, cityWeather],
  prompts: [planTrip],
})
