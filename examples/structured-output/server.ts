/** Structured output: a schema for what a tool answers, which clients can check and models can rely on. */
import { content, createServer, fail, result, tool } from "conduit-mcp"
import { z } from "zod"

const book = z.object({ title: z.string(), year: z.int(), pages: z.int().optional() })

const books = [
  { title: "Small Gods", year: 1992, pages: 400 },
  { title: "Mort", year: 1987 },
]

/** The value is checked against `output`, and typed by it: a handler that forgets `year` does not compile. */
const find = tool("find_book", { input: z.object({ title: z.string() }), output: book }, ({ title }) => {
  const found = books.find((one) => one.title === title)
  return found ?? fail(`There is no book called ${title}.`)
})

/**
 * A list. Revision 2026-07-28 has structured content of any type; earlier ones know objects only, and get
 * `{ "result": [...] }` with a schema that says so.
 */
const list = tool("list_books", { output: z.array(book) }, () => books)

/** A text of one's own beside the value; without it the text is the value as JSON. */
const newest = tool("newest_book", { output: book }, () =>
  result({ content: [content.text("The newest is Small Gods.")], structured: books[0] }),
)

/** What the schema adds is added before the answer is sent; a handler may leave out what has a default. */
const total = tool(
  "count_pages",
  { output: z.object({ pages: z.int(), of: z.string().default("all books") }) },
  () => ({
    pages: books.reduce((sum, { pages = 0 }) => sum + pages, 0),
  }),
)

/** A value that does not match never leaves: the model is told that the tool failed, the log says what is wrong. */
const broken = tool("broken", { output: z.object({ pages: z.int() }) }, () => ({ pages: 1.5 }))

export const server = createServer({
  name: "structured-output",
  version: "1.0.0",
  tools: [find, list, newest, total, broken],
})
