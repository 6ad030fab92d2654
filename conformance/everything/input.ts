/** The tools of the official harness that ask their client: straight through where that is possible, by hand once. */
import { inputRequired, prompt, tool } from "conduit-mcp"
import { z } from "zod"

const name = z.object({ name: z.string() })
const text = (said: string) => ({ role: "user", content: { type: "text", text: said } }) as const

const sampling = tool(
  "test_sampling",
  { description: "Asks the client's model", input: z.object({ prompt: z.string() }) },
  async (args, ctx) => {
    const { content } = await ctx.sample({ messages: [text(args.prompt)], maxTokens: 100 })
    return `The model said: ${JSON.stringify(content)}`
  },
)

const elicitation = tool(
  "test_elicitation",
  { description: "Asks the user", input: z.object({ message: z.string() }) },
  async ({ message }, ctx) => {
    const answer = await ctx.elicit(message, z.object({ username: z.string(), email: z.email() }))
    return `The user said: ${JSON.stringify(answer)}`
  },
)

const defaults = tool(
  "test_elicitation_sep1034_defaults",
  { description: "Asks the user with a form that is filled in" },
  async (_, ctx) => {
    const form = z.object({
      name: z.string().default("John Doe"),
      age: z.int().default(30),
      score: z.number().default(95.5),
      status: z.enum(["active", "inactive", "pending"]).default("active"),
      verified: z.boolean().default(true),
    })
    return `The user said: ${JSON.stringify(await ctx.elicit("Is this right?", form))}`
  },
)

const titled = z.union([
  z.literal("value1").meta({ title: "First" }),
  z.literal("value2").meta({ title: "Second" }),
  z.literal("value3").meta({ title: "Third" }),
])

const enums = tool(
  "test_elicitation_sep1330_enums",
  { description: "Asks the user to choose in every way" },
  async (_, ctx) => {
    const form = z.object({
      untitledSingle: z.enum(["option1", "option2", "option3"]),
      titledSingle: titled,
      legacyEnum: z.enum(["opt1", "opt2"]).meta({ enumNames: ["Option One", "Option Two"] }),
      untitledMulti: z.array(z.enum(["option1", "option2", "option3"])),
      titledMulti: z.array(titled),
    })
    return `The user said: ${JSON.stringify(await ctx.elicit("Choose.", form.partial()))}`
  },
)

const missingCapability = tool(
  "test_missing_capability",
  { description: "Works only for clients that can sample" },
  async (_, ctx) => {
    const { model } = await ctx.sample({ messages: [text("Hello")], maxTokens: 10 })
    return `The client can sample, with ${model}.`
  },
)

const streaming = tool(
  "test_streaming_elicitation",
  { description: "Asks the user after a moment of work" },
  async (_, ctx) => {
    ctx.progress(1, 2)
    return `The user's answer: ${(await ctx.elicit("Go on?", z.object({ yes: z.boolean() }))).action}`
  },
)

const askName = tool("test_input_required_result_elicitation", { description: "Asks for a name" }, async (_, ctx) => {
  const { content } = await ctx.elicit("What is your name?", name, { key: "user_name" })
  return `Hello, ${content?.name ?? "stranger"}!`
})

const askModel = tool(
  "test_input_required_result_sampling",
  { description: "Asks the client's model" },
  async (_, ctx) => {
    const request = { messages: [text("What is the capital of France?")], maxTokens: 100 }
    const { content } = await ctx.sample(request, { key: "capital_question" })
    return `The model said: ${JSON.stringify(content)}`
  },
)

const askRoots = tool(
  "test_input_required_result_list_roots",
  { description: "Asks for the client's roots" },
  async (_, ctx) => {
    const roots = await ctx.roots({ key: "client_roots" })
    return `The roots: ${roots.map(({ uri }) => uri).join(", ")}`
  },
)

const askWithState = tool(
  "test_input_required_result_request_state",
  { description: "Asks, and knows the answer's question by its state" },
  async (_, ctx) => {
    const { action } = await ctx.elicit("Confirm?", z.object({ ok: z.boolean() }), { key: "confirm" })
    return `state-ok: ${action}`
  },
)

const askSeveral = tool(
  "test_input_required_result_multiple_inputs",
  { description: "Asks for three things at once" },
  async (_, ctx) => {
    const [who, greeting, roots] = await Promise.all([
      ctx.elicit("What is your name?", name, { key: "user_name" }),
      ctx.sample({ messages: [text("Greet the user")], maxTokens: 50 }, { key: "greeting" }),
      ctx.roots({ key: "client_roots" }),
    ])
    return `${who.content?.name}: ${JSON.stringify(greeting.content)} (${roots.length} roots)`
  },
)

const askTwice = tool(
  "test_input_required_result_multi_round",
  { description: "Asks once, and then once more" },
  async (_, ctx) => {
    const first = await ctx.elicit("Step 1: your name?", name, { key: "step1" })
    const color = z.object({ color: z.string() })
    const second = await ctx.elicit("Step 2: your favorite color?", color, { key: "step2" })
    return `${first.content?.name} likes ${second.content?.color}.`
  },
)

const askByHand = tool(
  "test_input_required_result_tampered_state",
  { description: "Asks by hand, with a state of its own" },
  (_, ctx) => {
    const { confirm } = ctx.responses
    if (confirm !== undefined) return `Answered: ${JSON.stringify([confirm, ctx.state])}`
    return inputRequired({
      requests: {
        confirm: {
          method: "elicitation/create",
          params: {
            message: "Confirm?",
            requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
          },
        },
      },
      state: { asked: 1 },
    })
  },
)

const askWhatIsDeclared = tool(
  "test_input_required_result_capabilities",
  { description: "Asks for what the client declared" },
  async (_, ctx) => {
    if (ctx.client.can("elicitation.form")) return `The user: ${(await ctx.elicit("Your name?", name)).action}`
    const { model } = await ctx.sample({ messages: [text("Hello")], maxTokens: 10 })
    return `The model: ${model}`
  },
)

/** All of them, in the order in which they are listed. */
export const inputTools = [
  sampling,
  elicitation,
  defaults,
  enums,
  missingCapability,
  streaming,
  askName,
  askModel,
  askRoots,
  askWithState,
  askSeveral,
  askTwice,
  askByHand,
  askWhatIsDeclared,
]

/** The prompt that asks. */
export const inputPrompt = prompt(
  "test_input_required_result_prompt",
  { description: "Asks what it is about" },
  async (_, ctx) => {
    const { content } = await ctx.elicit("What is the context?", z.object({ context: z.string() }), {
      key: "user_context",
    })
    return `The context is: ${content?.context ?? "unknown"}.`
  },
)
