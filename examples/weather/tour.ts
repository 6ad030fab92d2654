/** A short tour of the example server by Conduit's own client: the same few lines in both eras. */
import { connect } from "conduit-mcp/client"

/** What the client does in one era, as lines to print. */
async function visit(url: string, protocol: "modern" | "legacy"): Promise<readonly string[]> {
  const client = await connect(url, { protocol })
  try {
    const { era, version, server } = client.status
    const { tools } = await client.listTools()
    const oslo = await client.callTool("get_forecast", { city: "Oslo" })
    const atlantis = await client.callTool("get_forecast", { city: "Atlantis" })
    const looks: string[] = []
    await client.callTool(
      "watch_sky",
      { city: "Lima", looks: 3, everyMs: 0 },
      { onProgress: ({ progress, total }) => looks.push(`${progress}/${total}`) },
    )
    const { values } = await client.complete({ type: "ref/prompt", name: "plan_trip" }, { name: "city", value: "O" })
    return [
      `${era} (${version}): ${server?.name} ${server?.version}, ${tools.length} tools`,
      `  get_forecast Oslo      -> ${JSON.stringify(oslo.structured)}`,
      `  get_forecast Atlantis  -> isError: ${atlantis.isError}`,
      `  watch_sky Lima         -> progress ${looks.join(", ")}`,
      `  plan_trip city "O…"    -> ${values.join(", ")}`,
    ]
  } finally {
    await client.close()
  }
}

/** The whole tour. */
export async function tour(url: string): Promise<string> {
  const lines = [
    "What Conduit's client sees, in either era:",
    ...(await visit(url, "modern")),
    ...(await visit(url, "legacy")),
  ]
  return lines.join("\n")
}
