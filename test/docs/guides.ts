/** The pages that users read, and the code blocks and links in them. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** One fenced block of TypeScript. */
export interface Block {
  /** Path of the page, from the root. */
  readonly page: string
  /** The line of its first line of code, from 1. */
  readonly line: number
  readonly code: string
  /** Whether the fence says `ts run`: then it ends by itself, and what it prints is the `text` block that follows it. */
  readonly runs: boolean
  readonly prints: string | undefined
}

/** Every page: the README, and everything in `docs/`. */
export const pages: readonly string[] = [
  "README.md",
  ...readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .sort(),
]

/** The text of a page. */
export const read = (page: string): string => readFileSync(`${root}/${page}`, "utf8")

const FENCE = /^(?<mark>```+)(?<info>[^\n`]*)\n(?<code>.*?)^\k<mark>$/gms

/** The TypeScript blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  const text = read(page)
  const fences = [...text.matchAll(FENCE)].map(({ 0: all, index, groups = {} }) => ({
    info: groups["info"]?.trim() ?? "",
    code: groups["code"] ?? "",
    index,
    end: index + all.length,
  }))
  return fences.flatMap(({ info, code, index, end }, at) => {
    if (info !== "ts" && info !== "ts run") return []
    const next = fences[at + 1]
    const follows = next?.info === "text" && text.slice(end, next.index).trim() === ""
    const line = text.slice(0, index).split("\n").length + 1
    return [{ page, line, code, runs: info === "ts run", prints: follows ? next.code : undefined }]
  })
}

/** The relative links of a page, without those in code. */
export function linksOf(page: string): readonly string[] {
  const prose = read(page)
    .replace(FENCE, "")
    .replace(/`[^`\n]*`/g, "")
  return [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link = ""]) => link)
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): readonly string[] {
  const headings = read(page)
    .replace(FENCE, "")
    .matchAll(/^#{1,6} (.+)$/gm)
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  )
}
