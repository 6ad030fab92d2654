/** Every TypeScript block of the README and the guides compiles as it stands, and those marked `ts run` print what they say. */
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startScript } from "../support/child.js"
import { type Block, blocksOf, pages, root } from "./guides.js"

const folder = `${root}/results/docs`
const blocks = pages.flatMap(blocksOf)
const nameOf = ({ page, line }: Block) => `${page.replace(/\.md$/, "").replaceAll("/", "-")}-${line}`

/** As strict as the house is, but for names that a block only shows. */
const config = {
  extends: "../../tsconfig.base.json",
  compilerOptions: {
    rootDir: ".",
    outDir: "out",
    composite: false,
    declaration: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    moduleDetection: "force",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: ["node"],
    typeRoots: ["../../node_modules/@types"],
  },
  include: ["*.ts"],
}

/** What the compiler says, in terms of pages: lines of a block are lines of its page. */
function compile(): string {
  const tsc = fileURLToPath(new URL("node_modules/.bin/tsc", `file://${root}/`))
  const { stdout, stderr } = spawnSync(tsc, ["-p", folder, "--pretty", "false"], { cwd: root, encoding: "utf8" })
  const said = `${stdout}${stderr}`
  return blocks.reduce((text, block) => text.replaceAll(`results/docs/${nameOf(block)}.ts`, block.page), said)
}

describe("the code in the guides", () => {
  let said = ""
  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
    for (const block of blocks) {
      writeFileSync(`${folder}/${nameOf(block)}.ts`, "\n".repeat(block.line - 1) + block.code)
    }
    said = compile()
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("compiles as it stands", () => {
    expect(said).toBe("")
  })

  it.each(blocks.filter(({ runs }) => runs).map((block) => [`${block.page}:${block.line}`, block] as const))(
    "prints what the page says: %s",
    async (_, block) => {
      const { ended, printed } = startScript(`${folder}/out/${nameOf(block)}.js`)
      expect(await ended, printed.stderr).toBe(0)
      if (block.prints !== undefined) expect(printed.stdout).toBe(block.prints)
    },
  )
})
