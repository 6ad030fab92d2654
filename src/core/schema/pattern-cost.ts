/**
 * How long a regular expression can run at worst. The engines of JavaScript try one way after the other, so a pattern is fast
 * when at each point the next character says which way is right; every point where it does not multiplies the work. The judgement
 * errs on the side of refusing.
 */
import { type CharSet, isOverlap, type PatternNode, parsePattern, union } from "./pattern.js"

/** The running time in the length of the text: proportional, its square, or a reason to refuse the pattern. */
export type PatternCost =
  | { readonly ok: true; readonly degree: 1 | 2 }
  | { readonly ok: false; readonly problem: string }

const maxPatternLength = 1000

/** Repetitions up to this count are judged one by one; above it they count as unlimited. */
const maxCounted = 16

/** How many ways may be tried because of ambiguity that does not grow with the text. */
const maxFactor = 64

/** Steps of the judgement itself. */
const maxJudgements = 10_000

/** The end of the text, as a character that stands nowhere else. */
const end: CharSet = [[-1, -1]]

const anything: CharSet = [[-1, 0x10ffff]]

/** Judges a pattern as it is used by `pattern` and `patternProperties`: with the `u` flag and anywhere in the text. */
export function judgePattern(source: string): PatternCost {
  if (source.length > maxPatternLength) {
    return { ok: false, problem: `is longer than ${maxPatternLength} characters` }
  }
  const node = parsePattern(source)
  if (typeof node === "string") return { ok: false, problem: node }
  const { degree, factor } = new Judge().judge(node, success, end, false)
  // Without an anchor the search starts again at every character.
  const total = degree >= 1 && !isAnchored(node) ? degree + 1 : degree
  if (total > 2 || factor > maxFactor) {
    return { ok: false, problem: "can take too long on some texts, because it can match the same text in many ways" }
  }
  return { ok: true, degree: total === 2 ? 2 : 1 }
}

/** The cost of failing from some point on: a power of the text's length, and a constant number of ways. */
interface Work {
  readonly degree: number
  readonly factor: number
}

/** The end of the pattern: it cannot fail. */
const success: Work = { degree: -1, factor: 1 }

const tooLong: Work = { degree: Number.POSITIVE_INFINITY, factor: Number.POSITIVE_INFINITY }

class Judge {
  #judgements = 0

  /**
   * The work of `node` and of what comes after it: `rest` is the work of that, `follow` the characters it can start with.
   * `looped` is true inside of a repetition without limit, where no ambiguity is allowed.
   */
  judge(node: PatternNode, rest: Work, follow: CharSet, looped: boolean): Work {
    this.#judgements += 1
    if (this.#judgements > maxJudgements || rest.degree > 2 || rest.factor > maxFactor) return tooLong
    switch (node.kind) {
      case "set":
      case "assert":
        return { degree: Math.max(0, rest.degree), factor: rest.factor }
      case "look":
        return this.#look(node.body, rest, looped)
      case "sequence":
        return this.#sequence(node.parts, rest, follow, looped)
      case "choice":
        return this.#choice(node.branches, rest, follow, looped)
      case "repeat":
        if (node.max === 0) return rest
        return node.max > maxCounted
          ? this.#loop(node.body, node.min, rest, follow, looped)
          : this.#counted(node.body, node.min, node.max, rest, follow, looped)
    }
  }

  #look(body: PatternNode, rest: Work, looped: boolean): Work {
    const endless = isEndless(body)
    if (looped && endless) return tooLong
    const inner = this.judge(body, success, end, looped)
    return { degree: Math.max(endless ? 1 : 0, inner.degree, rest.degree), factor: inner.factor + rest.factor - 1 }
  }

  #sequence(parts: readonly PatternNode[], rest: Work, follow: CharSet, looped: boolean): Work {
    let work = rest
    let next = follow
    for (const part of parts.toReversed()) {
      work = this.judge(part, work, next, looped)
      next = startOf(part, next)
    }
    return work
  }

  #choice(branches: readonly PatternNode[], rest: Work, follow: CharSet, looped: boolean): Work {
    const works = branches.map((branch) => this.judge(branch, rest, follow, looped))
    const degree = Math.max(...works.map((work) => work.degree))
    if (isDistinct(branches, follow)) return { degree, factor: Math.max(...works.map((work) => work.factor)) }
    return looped ? tooLong : { degree, factor: works.reduce((sum, work) => sum + work.factor, 0) }
  }

  #loop(body: PatternNode, min: number, rest: Work, follow: CharSet, looped: boolean): Work {
    if (isNullable(body)) return tooLong
    const start = startOf(body, [])
    const inner = this.judge(body, { degree: 0, factor: 1 }, union(start, follow), true)
    if (inner.degree > 2) return tooLong
    if (rest.degree < 0) return min === 0 ? rest : { degree: inner.degree, factor: rest.factor }
    if (!isOverlap(start, follow)) return { degree: Math.max(1, rest.degree), factor: rest.factor }
    return looped ? tooLong : { degree: rest.degree + 1, factor: rest.factor }
  }

  #counted(body: PatternNode, min: number, max: number, rest: Work, follow: CharSet, looped: boolean): Work {
    const start = startOf(body, [])
    const ambiguous = max > min && (isOverlap(start, follow) || isNullable(body))
    if (ambiguous && looped) return tooLong
    const next = max > 1 ? union(start, follow) : follow
    let work = rest
    for (let count = 0; count < max; count += 1) {
      const longer = this.judge(body, work, next, looped)
      if (longer.degree === work.degree && longer.factor === work.factor) break
      work = longer
    }
    return { degree: work.degree, factor: work.factor * (ambiguous ? max - min + 1 : 1) }
  }
}

/** The characters that `node` can start with; those of `follow` too when it can be empty. */
function startOf(node: PatternNode, follow: CharSet): CharSet {
  switch (node.kind) {
    case "set":
      return node.set
    case "assert":
      return follow
    case "look":
      // To look far ahead costs more than to look at one character, so it counts as a way that is always open.
      return isEndless(node.body) ? anything : follow
    case "sequence":
      return node.parts.reduceRight((next, part) => startOf(part, next), follow)
    case "choice":
      return union(...node.branches.map((branch) => startOf(branch, follow)))
    case "repeat":
      return node.min === 0 || isNullable(node.body)
        ? union(startOf(node.body, []), follow)
        : startOf(node.body, follow)
  }
}

function isNullable(node: PatternNode): boolean {
  switch (node.kind) {
    case "set":
      return false
    case "assert":
    case "look":
      return true
    case "sequence":
      return node.parts.every(isNullable)
    case "choice":
      return node.branches.some(isNullable)
    case "repeat":
      return node.min === 0 || isNullable(node.body)
  }
}

/** Whether a repetition without limit is anywhere inside. */
function isEndless(node: PatternNode): boolean {
  switch (node.kind) {
    case "set":
    case "assert":
      return false
    case "look":
      return isEndless(node.body)
    case "sequence":
      return node.parts.some(isEndless)
    case "choice":
      return node.branches.some(isEndless)
    case "repeat":
      return node.max > maxCounted || isEndless(node.body)
  }
}

/** Whether a match can only begin where the text begins. */
function isAnchored(node: PatternNode): boolean {
  switch (node.kind) {
    case "assert":
      return node.where === "start"
    case "sequence":
      return node.parts.some((part, index) => isAnchored(part) && node.parts.slice(0, index).every(isZeroWidth))
    case "choice":
      return node.branches.every(isAnchored)
    default:
      return false
  }
}

function isZeroWidth(node: PatternNode): boolean {
  return node.kind === "assert"
}

/** Whether the first characters tell the branches apart: each pair has a place where both need other characters. */
function isDistinct(branches: readonly PatternNode[], follow: CharSet): boolean {
  const beginnings = branches.map((branch) => beginningOf(branch, follow))
  return beginnings.every((one, index) =>
    beginnings
      .slice(index + 1)
      .every((other) => one.some((set, at) => other[at] !== undefined && !isOverlap(set, other[at]))),
  )
}

/** The characters at the first places of `node`, as far as they are fixed; then those that can come next. */
function beginningOf(node: PatternNode, follow: CharSet): readonly CharSet[] {
  const parts = node.kind === "sequence" ? node.parts : [node]
  const length = parts.findIndex((part) => part.kind !== "set")
  const fixed = parts.slice(0, length === -1 ? parts.length : length)
  const others = parts.slice(fixed.length)
  const next = others.reduceRight<CharSet>((after, part) => startOf(part, after), follow)
  return [...fixed.map((part) => (part.kind === "set" ? part.set : [])), next]
}
