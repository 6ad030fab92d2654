/** What 2026-07-28 asks of a server that asks its client: forms, pages, completions. */
import { modern, type Requirement } from "./requirement.js"

const elicitation = (anchor: string): string => modern(`client/elicitation#${anchor}`)
const sampling = (anchor: string): string => modern(`client/sampling#${anchor}`)

export const questions: readonly Requirement[] = [
  {
    id: "form-no-secrets",
    rule: "A form never asks for a credential.",
    spec: elicitation("form-mode-security"),
    tests: [
      "core/feature/form.test.ts: never asks for a credential: %s",
      "core/feature/form.test.ts: never asks for what has the format of a password",
      "server/input/replay.test.ts: a credential",
    ],
  },
  {
    id: "page-for-secrets",
    rule: "What is sensitive is asked for at a page.",
    spec: elicitation("user-interaction-model"),
    author: "a form that asks for a credential is refused, and ctx.elicitUrl sends the user to a page",
  },
  {
    id: "question-mode-declared",
    rule: "No question is sent in a mode that the client did not declare.",
    spec: elicitation("capabilities"),
    tests: [
      "server/input/capability.test.ts: is asked, or refused with -32021 that names the leaf, in the modern era",
      "server/context.test.ts: has a form when elicitation names no mode",
    ],
  },
  {
    id: "form-members",
    rule: "A form has a message and a flat schema, a page a mode, a message and a URL.",
    spec: elicitation("form-mode-elicitation-requests"),
    tests: [
      "core/feature/form.test.ts: sends type, properties and required, and nothing else of the root",
      "core/feature/form.test.ts: refuses %s, naming the property",
      "server/input/url.test.ts: is sent with its mode, message and URL, and no id beside it",
    ],
  },
  {
    id: "page-url",
    rule: "The address of a page is a URL of the web, over TLS but on this machine.",
    spec: elicitation("url-mode-elicitation-requests"),
    tests: ["server/input/url.test.ts: a page at %s"],
  },
  {
    id: "question-state-of-user",
    rule: "What is kept between questions belongs to the user who was asked, by a verified identity.",
    spec: elicitation("statefulness"),
    tests: [
      "server/input/state.test.ts: is refused for anybody else, the same name elsewhere included",
      "server/input/seal.test.ts: shows nothing of the text, and is never the same twice",
    ],
  },
  {
    id: "question-bound-to-client",
    rule: "A question is bound to the client and the user that it was asked of.",
    spec: elicitation("security-considerations"),
    tests: [
      "server/input/state.test.ts: is refused for anybody else, the same name elsewhere included",
      "server/input/push.test.ts: a response counts in the session that was asked, and for its principal, alone",
    ],
  },
  {
    id: "user-not-by-client",
    rule: "Who the user is is never taken from what the client says of itself.",
    spec: elicitation("identifying-the-user"),
    tests: [
      "server/context.test.ts: is its era, its revision and nobody's identity",
      "server/auth.test.ts: reaches handlers as the principal, in both eras (%s)",
    ],
  },
  {
    id: "question-not-answered",
    rule: "A handler hears that the user declined, dismissed the question, or that the client failed.",
    spec: elicitation("error-handling"),
    tests: [
      "server/input/replay.test.ts: is answered by %s too, with content null or none",
      "server/input/push.test.ts: is declined or dismissed like anywhere",
      "server/input/push.test.ts: is a clear tool error when the client answers with an error, without what its words may hide",
    ],
  },
  {
    id: "page-without-personal-data",
    rule: "The address of a page holds nothing personal and opens nothing by itself.",
    spec: elicitation("safe-url-handling"),
    author: "ctx.elicitUrl gives a random id to put into the address, so that nothing else has to be",
  },
  {
    id: "page-same-user",
    rule: "Who opens a page is the user who was asked.",
    spec: elicitation("phishing"),
    author: "the page is the author's; the id in its address leads to a call whose principal is known",
  },
  {
    id: "third-party-credentials",
    rule: "Credentials of another service never pass through the client, and the client's are never used there.",
    spec: elicitation("understanding-the-distinction"),
    author: "handlers get who calls, and never the credential",
  },
  {
    id: "page-is-no-login",
    rule: "A page does not log the user in to the server itself.",
    spec: elicitation("url-mode-elicitation-for-oauth-flows"),
    tests: ["server/auth.test.ts: is told so with 401 and a challenge, and runs nothing (%s)"],
  },
  {
    id: "sampling-tools-declared",
    rule: "A completion with tools is asked only of a client that declared them.",
    spec: sampling("tools-in-sampling"),
    tests: [
      "server/input/capability.test.ts: a completion with tools",
      "server/input/capability.test.ts: a completion with a tool choice",
    ],
  },
  {
    id: "sampling-tool-results",
    rule: "Each use of a tool is followed by its result, in a message of the user that holds results alone.",
    spec: sampling("tool-use-and-result-balance"),
    tests: ["server/input/sampling.test.ts: refuses, before it is sent, a conversation with %s"],
  },
  {
    id: "sampling-roles",
    rule: "A message of a conversation is the user's or the assistant's.",
    spec: sampling("messages"),
    tests: ["server/input/sampling.test.ts: a use by the user", "server/input/sampling.test.ts: refuses an answer %s"],
  },
]
