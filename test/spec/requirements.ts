/** Every rule that this server is held to, by where it comes from, with the tests that show it. */
import { attacks } from "./requirements/attacks.js"
import { base } from "./requirements/base.js"
import { features } from "./requirements/features.js"
import { field } from "./requirements/field.js"
import { legacyEra } from "./requirements/legacy.js"
import { patterns } from "./requirements/patterns.js"
import { questions } from "./requirements/questions.js"
import type { Requirement } from "./requirements/requirement.js"
import { stdio, streamableHttp } from "./requirements/transports.js"

export const requirements: Readonly<Record<string, readonly Requirement[]>> = {
  "2026-07-28, base": base,
  "2026-07-28, pipes": stdio,
  "2026-07-28, HTTP": streamableHttp,
  "2026-07-28, patterns": patterns,
  "2026-07-28, features": features,
  "2026-07-28, questions": questions,
  "2025-11-25": legacyEra,
  "the field": field,
  attacks,
}
