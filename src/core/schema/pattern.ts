/** A regular expression as a tree: the part of ECMAScript's syntax (with the `u` flag) that can be judged for its running time. */

/** A set of characters, as ranges of code points. */
export type CharSet = readonly (readonly [from: number, to: number])[]

/** A part of a regular expression. */
export type PatternNode =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "assert"; readonly where: "start" | "end" | "word" | "inWord" }
  | { readonly kind: "look"; readonly body: PatternNode; readonly negative: boolean }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly branches: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly body: PatternNode; readonly min: number; readonly max: number }

const lastCodePoint = 0x10ffff
const anything: CharSet = [[0, lastCodePoint]]
const digits: CharSet = [[0x30, 0x39]]
const wordCharacters: CharSet = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]
const spaces: CharSet = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const lineEnds: CharSet = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]
const controlEscapes: ReadonlyMap<string, number> = new Map([
  ["0", 0x00],
  ["t", 0x09],
  ["n", 0x0a],
  ["v", 0x0b],
  ["f", 0x0c],
  ["r", 0x0d],
])

/** Whether two sets have a character in common. */
export function isOverlap(a: CharSet, b: CharSet): boolean {
  return a.some(([from, to]) => b.some(([otherFrom, otherTo]) => from <= otherTo && otherFrom <= to))
}

/** All characters of several sets, as few ranges as possible, in order. */
export function union(...sets: readonly CharSet[]): CharSet {
  const ranges: [number, number][] = []
  for (const [from, to] of sets.flat().sort((a, b) => a[0] - b[0])) {
    const last = ranges.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else ranges.push([from, to])
  }
  return ranges
}

/** Parses a pattern. A string says why it is not supported. */
export function parsePattern(source: string): PatternNode | string {
  try {
    new RegExp(source, "u")
  } catch {
    return "is not a regular expression of ECMAScript with the u flag"
  }
  const parser = new Parser(source)
  const node = parser.choice()
  return parser.unsupported ?? node
}

/** Reads a source that is known to be well formed. */
class Parser {
  unsupported: string | undefined
  readonly #characters: readonly string[]
  #at = 0

  constructor(source: string) {
    this.#characters = [...source]
  }

  choice(): PatternNode {
    const branches = [this.#sequence()]
    while (this.#take("|")) branches.push(this.#sequence())
    return branches.length === 1 && branches[0] !== undefined ? branches[0] : { kind: "choice", branches }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#characters.length && !this.#sees("|") && !this.#sees(")")) {
      parts.push(this.#quantified(this.#atom()))
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "sequence", parts }
  }

  #quantified(body: PatternNode): PatternNode {
    const bounds = this.#quantifier()
    if (bounds === undefined) return body
    this.#take("?")
    return { kind: "repeat", body, ...bounds }
  }

  #quantifier(): { min: number; max: number } | undefined {
    if (this.#take("*")) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take("+")) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (this.#take("?")) return { min: 0, max: 1 }
    if (!this.#take("{")) return undefined
    const [low = "", high = low] = this.#until("}").split(",")
    return { min: Number(low), max: high === "" ? Number.POSITIVE_INFINITY : Number(high) }
  }

  #atom(): PatternNode {
    if (this.#take("^")) return { kind: "assert", where: "start" }
    if (this.#take("$")) return { kind: "assert", where: "end" }
    if (this.#take("(")) return this.#group()
    if (this.#take(".")) return { kind: "set", set: complement(lineEnds) }
    if (this.#take("[")) return { kind: "set", set: this.#class() }
    if (!this.#take("\\")) return { kind: "set", set: single(this.#next()) }
    if (this.#take("b")) return { kind: "assert", where: "word" }
    if (this.#take("B")) return { kind: "assert", where: "inWord" }
    return { kind: "set", set: this.#escape() }
  }

  #group(): PatternNode {
    let look: boolean | undefined
    if (this.#take("?")) {
      if (this.#take("=")) look = false
      else if (this.#take("!")) look = true
      else if (this.#take("<")) this.#nameOrLookbehind()
      else if (!this.#take(":")) this.unsupported ??= "uses modifiers, which are not supported"
    }
    const body = this.choice()
    this.#take(")")
    return look === undefined ? body : { kind: "look", body, negative: look }
  }

  #nameOrLookbehind(): void {
    if (this.#sees("=") || this.#sees("!")) this.unsupported ??= "uses lookbehind, which is not supported"
    else this.#until(">")
  }

  #class(): CharSet {
    const negated = this.#take("^")
    const set: (readonly [number, number])[] = []
    while (!this.#take("]") && this.#at < this.#characters.length) {
      const from = this.#classAtom()
      const start = isSingle(from)
      if (start !== undefined && this.#sees("-") && this.#characters[this.#at + 1] !== "]") {
        this.#next()
        set.push([start, isSingle(this.#classAtom()) ?? lastCodePoint])
      } else {
        set.push(...from)
      }
    }
    return negated ? complement(set) : set
  }

  #classAtom(): CharSet {
    if (!this.#take("\\")) return single(this.#next())
    return this.#take("b") ? [[0x08, 0x08]] : this.#escape()
  }

  #escape(): CharSet {
    const letter = this.#next()
    const control = controlEscapes.get(letter)
    if (control !== undefined) return [[control, control]]
    switch (letter) {
      case "d":
        return digits
      case "D":
        return complement(digits)
      case "w":
        return wordCharacters
      case "W":
        return complement(wordCharacters)
      case "s":
        return spaces
      case "S":
        return complement(spaces)
      case "p":
      case "P":
        this.#until("}")
        return anything
      case "c":
        return single(String.fromCharCode(this.#next().charCodeAt(0) % 32))
      case "x":
        return hex(this.#next() + this.#next())
      case "u":
        return this.#unicode()
      default:
        if (/[1-9k]/.test(letter)) this.unsupported ??= "uses a backreference, which is not supported"
        return single(letter)
    }
  }

  #unicode(): CharSet {
    if (this.#take("{")) return hex(this.#until("}"))
    const unit = hex(this.#next() + this.#next() + this.#next() + this.#next())
    const high = isSingle(unit) ?? 0
    const isPair = high >= 0xd800 && high <= 0xdbff && this.#sees("\\") && this.#characters[this.#at + 1] === "u"
    // Both halves of a surrogate pair make one character; that character alone is in the set.
    if (!isPair || this.#characters[this.#at + 2] === "{") return unit
    const low = Number.parseInt(this.#characters.slice(this.#at + 2, this.#at + 6).join(""), 16)
    if (!(low >= 0xdc00 && low <= 0xdfff)) return unit
    this.#at += 6
    const point = (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000
    return [[point, point]]
  }

  #next(): string {
    const character = this.#characters[this.#at] ?? ""
    this.#at += 1
    return character
  }

  #sees(character: string): boolean {
    return this.#characters[this.#at] === character
  }

  #take(character: string): boolean {
    if (!this.#sees(character)) return false
    this.#at += 1
    return true
  }

  /** Everything up to `end`, which is read too. */
  #until(end: string): string {
    let text = ""
    while (this.#at < this.#characters.length && !this.#take(end)) text += this.#next()
    return text
  }
}

function single(character: string): CharSet {
  const point = character.codePointAt(0) ?? 0
  return [[point, point]]
}

function hex(text: string): CharSet {
  const point = Number.parseInt(text, 16)
  return [[point, point]]
}

function isSingle(set: CharSet): number | undefined {
  const [range] = set
  return set.length === 1 && range !== undefined && range[0] === range[1] ? range[0] : undefined
}

function complement(set: CharSet): CharSet {
  const gaps: (readonly [number, number])[] = []
  let next = 0
  for (const [from, to] of union(set)) {
    if (from > next) gaps.push([next, from - 1])
    next = to + 1
  }
  if (next <= lastCodePoint) gaps.push([next, lastCodePoint])
  return gaps
}
