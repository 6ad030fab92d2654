/** The application around the client: it answers what servers ask, and notes everything that it hears. */
import { tmpdir } from "node:os"
import { pathToFileURL } from "node:url"
import type { FormQuestion, HandlerContext, Handlers, ServerLogLine, UrlQuestion } from "conduit-mcp/client"

type Sampling = Parameters<NonNullable<Handlers["sample"]>>[0]
type Change = Parameters<NonNullable<Handlers["changed"]>>[0]

/** A list that grows, and that can be waited for. */
export class Notes<Note> {
  readonly all: Note[] = []
  #look: () => void = () => {}

  add(note: Note): void {
    this.all.push(note)
    this.#look()
  }

  /** Resolves with the first note that fits, now or later. */
  until(fits: (note: Note) => boolean): Promise<Note> {
    return new Promise((resolve) => {
      this.#look = () => {
        const found = this.all.find(fits)
        if (found !== undefined) resolve(found)
      }
      this.#look()
    })
  }

  /** Forgets them. */
  clear(): void {
    this.all.length = 0
  }
}

/** See the file's comment. */
export class Application {
  readonly questions = new Notes<FormQuestion | UrlQuestion>()
  readonly samplings = new Notes<Sampling>()
  readonly rootsAsked = new Notes<HandlerContext>()
  readonly logs = new Notes<ServerLogLine>()
  readonly changes = new Notes<Change>()
  readonly finishedPages = new Notes<string>()
  /** The names that the user fills into forms, one after the other; the last one again and again. */
  content: Readonly<Record<string, string>>[] = []
  /** Called before a page is said to be visited. */
  visit: () => unknown = () => {}
  roots = [{ uri: pathToFileURL(tmpdir()).href, name: "the first" }]

  readonly handlers: Handlers = {
    elicit: async (question) => {
      this.questions.add(question)
      if (question.mode === "form") return { action: "accept", content: this.#fillIn() }
      await this.visit()
      return { action: "accept" }
    },
    sample: (request) => {
      this.samplings.add(request)
      return { role: "assistant", model: "thinker", content: { type: "text", text: "I thought." } }
    },
    roots: (context) => {
      this.rootsAsked.add(context)
      return this.roots
    },
    log: (line) => this.logs.add(line),
    changed: (change) => this.changes.add(change),
    elicitationComplete: (id) => this.finishedPages.add(id),
  }

  /** Forgets what it heard, and answers as it did at first. */
  reset(): void {
    const { questions, samplings, rootsAsked, logs, changes, finishedPages } = this
    for (const notes of [questions, samplings, rootsAsked, logs, changes, finishedPages]) notes.clear()
    this.content = []
    this.visit = () => {}
  }

  #fillIn(): Record<string, string> {
    const [next = {}, ...rest] = this.content
    if (rest.length > 0) this.content = rest
    return { ...next }
  }
}
