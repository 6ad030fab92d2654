/** Which URIs a template matches, with which values, and how long it takes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { TemplateValues } from "../../../src/core/feature/uri-expand.js"
import { hasTraversal, parseUriTemplate, type UriTemplate } from "../../../src/core/feature/uri-template.js"

function parse(template: string): UriTemplate {
  const parsed = parseUriTemplate(template)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed
}

describe("a match", () => {
  it.each<[string, string, Record<string, string | string[]> | undefined]>([
    ["weather://today", "weather://today", {}],
    ["weather://today", "weather://tomorrow", undefined],
    ["weather://today", "weather://today/", undefined],
    ["weather://{city}", "weather://Oslo", { city: "Oslo" }],
    ["weather://{city}", "weather://S%C3%A3o%20Paulo", { city: "São Paulo" }],
    ["weather://{city}", "weather://São Paulo", { city: "São Paulo" }],
    ["weather://{city}", "weather://a%2Fb", { city: "a/b" }],
    ["weather://{city}", "weather://a:b@c,d", { city: "a:b@c,d" }],
    ["weather://{city}", "weather://", undefined],
    ["weather://{city}", "weather://a/b", undefined],
    ["weather://{city}", "weather://a?b", undefined],
    ["weather://{city}", "weather://a#b", undefined],
    ["weather://{city}", "Weather://a", undefined],
    ["weather://{city-name}", "weather://New-York", { "city-name": "New-York" }],
    ["repo://{owner}/{name}", "repo://a/b", { owner: "a", name: "b" }],
    ["repo://{owner}/{name}", "repo://a/b/c", undefined],
    ["repo://{owner}/{name}", "repo://a/", undefined],
    ["repo://{owner}/{name}/issues/{n}", "repo://a/b/issues/7", { owner: "a", name: "b", n: "7" }],
    ["{x,y}", "1024,768", { x: "1024", y: "768" }],
    ["{x,y}", "1024", { x: "1024" }],
    ["{x,y}", "1,2,3", undefined],
    ["{list*}", "red,gre%2Cen", { list: ["red", "gre,en"] }],
    ["{first,rest*}", "1,2,3", { first: "1", rest: ["2", "3"] }],
    ["{rest*,last}", "1,2,3", { rest: ["1", "2"], last: "3" }],
    ["file:///{+path}", "file:///a/b%20c/d.txt", { path: "a/b c/d.txt" }],
    ["file:///{+path}", "file:///a?b#c", { path: "a?b#c" }],
    ["file:///{+path}", "file:///", undefined],
    ["{+path}/{file}", "a/b/c", { path: "a/b", file: "c" }],
    ["{+path}/here", "/foo/here/here", { path: "/foo/here" }],
    ["{+path}{?q}", "a/b?q=1", { path: "a/b", q: "1" }],
    ["{+path}{?q}", "a/b", { path: "a/b" }],
    ["page{#section}", "page#a/b?c", { section: "a/b?c" }],
    ["page{#section}", "page", {}],
    ["page{#section}", "page#", { section: "" }],
    ["X{.format}", "X.tar.gz", { format: "tar.gz" }],
    ["{name}{.ext}", "archive.tar.gz", { name: "archive.tar", ext: "gz" }],
    ["{name}{.ext}", "archive", { name: "archive" }],
    ["www{.dom*}", "www.example.com", { dom: ["example", "com"] }],
    ["a{/b,c}", "a/1/2", { b: "1", c: "2" }],
    ["a{/b,c}", "a/1", { b: "1" }],
    ["a{/b,c}", "a", {}],
    ["a{/b,c}", "a/", { b: "" }],
    ["a{/b,c}", "a/1/2/3", undefined],
    ["a{/b}{/c}", "a/1/2", { b: "1", c: "2" }],
    ["a{/b}{/c}", "a/1", { b: "1" }],
    ["a{/b}/end", "a/1/end", { b: "1" }],
    ["a{/b}/end", "a/end", {}],
    ["a{/b}/end", "a/end/end", { b: "end" }],
    ["a{/b*}/end", "a/1/2/end", { b: ["1", "2"] }],
    ["a{/b*}", "a", { b: [] }],
    ["a{/b*}", "a/1//2", { b: ["1", "", "2"] }],
    ["a{;x,y}", "a;x=1;y=2", { x: "1", y: "2" }],
    ["a{;x,y}", "a;y=2;x=1", { x: "1", y: "2" }],
    ["a{;x,y}", "a;y", { y: "" }],
    ["a{;x,y}", "a;z=1", undefined],
    ["{a}{;x}", "v;x=1", { a: "v", x: "1" }],
    ["s{?a,b}", "s?a=1&b=2", { a: "1", b: "2" }],
    ["s{?a,b}", "s?b=2&a=1", { a: "1", b: "2" }],
    ["s{?a,b}", "s?b=2", { b: "2" }],
    ["s{?a,b}", "s", {}],
    ["s{?a,b}", "s?a=", { a: "" }],
    ["s{?a,b}", "s?a=x%26y%3D/?", { a: "x&y=/?" }],
    ["s{?a,b}", "s?a=1=2", { a: "1=2" }],
    ["s{?a,b}", "s?a=1+2", { a: "1+2" }],
    ["s{?a,b}", "s?a=1&a=2", undefined],
    ["s{?a,b}", "s?a=1&c=3", undefined],
    ["s{?a,b}", "s?a", undefined],
    ["s{?a,b}", "s?", undefined],
    ["s{?a,b}", "s?a=1&", undefined],
    ["s{?a,b}", "s&a=1", undefined],
    ["s{?a,b}", "s?__proto__=1", undefined],
    ["s{?a}{&b}", "s?b=2&a=1", { a: "1", b: "2" }],
    ["s{?tags*}", "s?tags=1&tags=2", { tags: ["1", "2"] }],
    ["s{?tags*}", "s", { tags: [] }],
    ["s?fixed=1{&a,b*}", "s?fixed=1&b=2&a=1&b=3", { a: "1", b: ["2", "3"] }],
    ["s?fixed=1{&a,b*}", "s?fixed=1", { b: [] }],
    ["s?q={term}&page={page}", "s?q=a&page=2", { term: "a", page: "2" }],
    ["s?q={term}&page={page}", "s?q=a&admin=1&page=2", undefined],
    ["s{?a}{#f}", "s?a=1#x", { a: "1", f: "x" }],
    ["{v:3}", "val", { v: "val" }],
    ["{v:3}", "value", undefined],
    ["{v:2}", "%F0%9F%98%80%F0%9F%98%80", { v: "😀😀" }],
    ["{/v:1,v}", "/v/value", { v: "value" }],
    ["{/v:1,v}", "/x/value", undefined],
    ["{v}/{v}", "a/a", { v: "a" }],
    ["{v}/{v}", "a/b", undefined],
    ["{a}-{b}", "1-2-3", { a: "1-2", b: "3" }],
    ["caf%C3%A9/{a}", "caf%c3%a9/1", { a: "1" }],
    ["café/{a}", "caf%C3%A9/1", { a: "1" }],
    ["%61/{a}", "a/1", { a: "1" }],
  ])("of %s with %s gives %j", (template, uri, values) => {
    const matched = parse(template).match(uri)
    expect(matched === undefined ? undefined : { ...matched }).toEqual(values)
  })

  it.each([
    ["a percent sign alone", "x://100%"],
    ["half an escape", "x://%2"],
    ["an escape of no digits", "x://%zz"],
    ["bytes that are no UTF-8", "x://%ff"],
    ["an overlong form", "x://%c0%80"],
    ["half a surrogate pair, escaped", "x://%ed%a0%80"],
    ["half a surrogate pair", "x://\ud800"],
    ["an escaped NUL", "x://a%00b"],
    ["a NUL", "x://a\0b"],
    ["nothing", ""],
  ])("is refused for %s", (_, uri) => {
    expect(parse("x://{a}").match(uri)).toBeUndefined()
    expect(parse("x://{+a}").match(uri)).toBeUndefined()
    expect(parse("{a*}").match(uri)).toBeUndefined()
  })

  it("keeps a variable named __proto__ as a variable", () => {
    const matched = parse("{__proto__}/{constructor}").match("a/b")
    expect(Object.entries(matched ?? {})).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ])
  })
})

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((value) => !value.includes("\0"))
const texts = fc.array(text, { minLength: 1, maxLength: 5 })
const raw = text.filter((value) => !value.includes("%"))

describe("what was expanded", () => {
  it.each<[string, Record<string, fc.Arbitrary<string | string[]>>]>([
    ["x://{a}", { a: text }],
    ["x://{a}/{b}", { a: text, b: text }],
    ["x://{a}/literal/{b}/end", { a: text, b: text }],
    ["x://{a,b}", { a: text, b: text }],
    ["x://{a*}", { a: texts }],
    ["x://{a,b*}", { a: text, b: texts }],
    ["x://h{/a,b}", { a: text, b: text }],
    ["x://h{/a*}", { a: texts }],
    ["x://h{/a*}/end", { a: texts }],
    ["x://h/{a}{?b,c*}", { a: text, b: text, c: texts }],
    ["x://h{?a,b}{&c*}", { a: text, b: text, c: texts }],
    ["x://h?fixed=1{&a,b}", { a: text, b: text }],
    ["x://h?q={a}&r={b}", { a: text, b: text }],
    ["x://h{;a,b*}", { a: text, b: texts }],
    ["x://h/{+a}", { a: raw }],
    ["x://h/{a}{#b}", { a: text, b: raw }],
    ["x://h{.a}", { a: text }],
  ])("from %s is matched back to its values", (template, arbitraries) => {
    const { expand, match } = parse(template)
    fc.assert(
      fc.property(fc.record(arbitraries), (values: TemplateValues) => {
        expect({ ...match(expand(values)) }).toEqual(values)
      }),
    )
  })

  it("is matched whatever the order of its query", () => {
    const { match } = parse("x://h{?a,b,c}")
    const query = fc.shuffledSubarray(["a=1", "b=2", "c=3"], { minLength: 1 })
    fc.assert(
      fc.property(query, (pairs) => {
        const expected = Object.fromEntries(pairs.map((pair) => pair.split("=")))
        expect({ ...match(`x://h?${pairs.join("&")}`) }).toEqual(expected)
      }),
    )
  })

  it("expands again to an equal URI, when any text matched", () => {
    const uri = fc.string({ unit: fc.constantFrom(..."ab/,.;=&?#%2F+"), maxLength: 30 })
    const templates = ["{a}", "{+a}", "{a,b}", "{/a,b}", "a{?a,b}", "a{;a,b}", "{a}{.b}", "{a}/{b}", "{a}-{+b}"].map(
      parse,
    )
    fc.assert(
      fc.property(uri, fc.constantFrom(...templates), (candidate, { match, expand }) => {
        const values = match(candidate)
        if (values !== undefined) expect(match(expand(values))).toEqual(values)
      }),
      { numRuns: 3000 },
    )
  })
})

describe("the time of a match", () => {
  const size = 65_000
  const filler = (unit: string) => unit.repeat(Math.floor(size / unit.length))

  it.each([
    ["a list of segments with commas", "{/id*}", `/${filler("1,2,")}`],
    ["a list of segments", "{/id*}", filler("/1")],
    ["a list in a query", "{?q*}", `?q=${filler(",")}`],
    ["a query of equal names", "{?q*}", `?q=1${filler("&q=1")}`],
    ["a query that goes wrong at its end", "{?q*}", `?q=1${filler("&q=1")}&r`],
    ["many ways to divide", "{a}-{b}-{c}-{d}-{e}-{f}", filler("-")],
    ["many ways to divide, and none works", "{+a}/{+b}/{+c}/{+d}/end", filler("/")],
    ["variables side by side", "{a}{b}{c}{d}{e}{f}", filler("a")],
    ["lists side by side", "{a*}{b*}{c*}", filler(",")],
    ["64 variables", `{${Array.from({ length: 64 }, (_, index) => `v${index}`).join("}-{")}}`, filler("a-")],
    ["labels", "{a}{.b}{.c*}", filler(".")],
    ["escapes", "{+a}", filler("%61")],
    ["climbing", "file:///{+path}", `file:///${filler("../")}`],
  ])("is bounded for %s", (_, template, uri) => {
    const { match } = parse(template)
    const startedAt = performance.now()
    match(uri)
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })

  it("is nothing for a URI that is longer than any header", () => {
    expect(parse("x://{+a}").match(`x://${"a".repeat(1_000_000)}`)).toBeUndefined()
    expect(parse("x://{+a}").match(`x://${"é".repeat(60_000)}`)).toBeUndefined()
    expect(parse("x://{+a}").match(`x://${"a".repeat(65_000)}`)).toEqual({ a: "a".repeat(65_000) })
  })
})

describe("traversal", () => {
  it.each([
    "..",
    "../etc/passwd",
    "a/../b",
    "a/..",
    "..\\windows",
    "a\\..\\b",
    "%2e%2e/secret",
    "%2E./secret",
    "a%2f..%2fb",
    "..%5cb",
  ])("is seen in %j", (value) => {
    expect(hasTraversal(value)).toBe(true)
  })

  it.each(["", ".", "a", "a..b", "...", "..a", "a../b", "/a/b", "./a", "a/.b"])("is not seen in %j", (value) => {
    expect(hasTraversal(value)).toBe(false)
  })

  it.each(["../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc", "..%5c..%5cetc"])("is seen in what %j decodes to", (path) => {
    const { path: value = "" } = parse("file:///{+path}").match(`file:///${path}`) ?? {}
    expect(hasTraversal(String(value))).toBe(true)
  })
})
