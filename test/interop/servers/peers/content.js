// What every server made for this suite has, in the words of no library: texts, a picture, names, and calls that end only when
// they are cancelled.

/** How each introduces itself. */
export const identity = (name) => ({ name, version: "1.0.0" })

/** Said to clients when they connect. */
export const INSTRUCTIONS = "Greet before you ask."

/** A resource with text. */
export const note = { uri: "note://milk", name: "milk", mimeType: "text/plain", text: "Remember the milk 🥛." }

/** A resource with bytes, in base64. */
export const dot = { uri: "note://dot", name: "dot", mimeType: "application/octet-stream", blob: "AAEC/w==" }

/** What is at `people://{name}`. */
export const person = (name) => `${name} was here.`

/** What `greet` says. */
export const greeting = (name) => `Say hello to ${name}.`

/** How a name can go on. */
export const complete = (value) => ["Ada", "Alan", "Grace"].filter((name) => name.startsWith(value))

/** The question of `ask`: one field without and one with a default. */
export const question = {
  message: "Who is there?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string" }, loud: { type: "boolean", default: true } },
    required: ["name"],
  },
}

/** The page of `visit`. */
export const page = {
  message: "Sign in, please.",
  url: "https://example.com/sign-in?state=1",
  elicitationId: "sign-in-1",
}

/** The request of `think`. */
export const prompt = { messages: [{ role: "user", content: { type: "text", text: "Think!" } }], maxTokens: 7 }

/** A tool's result of one text. */
export const text = (value) => ({ content: [{ type: "text", text: value }] })

/** Doors by the key that their caller gave them: each is shut until its page was visited. */
const open = new Set()

/** Whether a door is open. */
export const isOpen = (key) => open.has(key)

/** Opens a door. */
export const unlock = (key) => void open.add(key)

/** The page that opens a door. */
export const pageOf = (key) => ({ mode: "url", ...page, elicitationId: key })

/** Calls by the key that their caller gave them. */
const cancellations = new Map()

function cancellationOf(key) {
  const known = cancellations.get(key)
  if (known !== undefined) return known
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  const made = { promise, resolve }
  cancellations.set(key, made)
  return made
}

/** Never ends, but by the signal. */
export function wait(key, signal) {
  return new Promise((_resolve, reject) => {
    const cancelled = () => {
      cancellationOf(key).resolve()
      reject(new Error("cancelled"))
    }
    signal?.addEventListener("abort", cancelled, { once: true })
  })
}

/** Ends as soon as `wait` with the same key was cancelled. */
export async function witness(key) {
  await cancellationOf(key).promise
  return `${key} was cancelled`
}
