/** Expansion of URI templates, against the examples of RFC 6570 sections 3.2.1 to 3.2.9. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { TemplateValues } from "../../../src/core/feature/uri-expand.js"
import { parseUriTemplate } from "../../../src/core/feature/uri-template.js"

const values: TemplateValues = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null,
}

function expand(template: string, given: TemplateValues): string {
  const parsed = parseUriTemplate(template)
  return parsed.ok ? parsed.expand(given) : parsed.problem
}

const examples: Record<string, [string, string][]> = {
  lists: [
    ["{count}", "one,two,three"],
    ["{count*}", "one,two,three"],
    ["{/count}", "/one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count}", ";count=one,two,three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{?count}", "?count=one,two,three"],
    ["{?count*}", "?count=one&count=two&count=three"],
    ["{&count*}", "&count=one&count=two&count=three"],
  ],
  "simple strings": [
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{x,y}", "1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  ],
  "reserved strings": [
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
    ["{+keys*}", "semi=;,dot=.,comma=,"],
  ],
  fragments: [
    ["{#var}", "#value"],
    ["{#hello}", "#Hello%20World!"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["{#path:6}/here", "#/foo/b/here"],
    ["{#list}", "#red,green,blue"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"],
  ],
  labels: [
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.var}", "X.value"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.var:3}", "X.val"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"],
  ],
  "path segments": [
    ["{/who}", "/fred"],
    ["{/who,who}", "/fred/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var}", "/value"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/var:1,var}", "/v/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  ],
  "path parameters": [
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,bar,who}", ";v=6;who=fred"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    ["{;hello:5}", ";hello=Hello"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  ],
  queries: [
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ],
  "continued queries": [
    ["{&who}", "&who=fred"],
    ["{&half}", "&half=50%25"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    ["{&x,y,undef}", "&x=1024&y=768"],
    ["{&var:3}", "&var=val"],
    ["{&list}", "&list=red,green,blue"],
    ["{&list*}", "&list=red&list=green&list=blue"],
    ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
  ],
}

describe.each(Object.entries(examples))("the RFC's examples of %s", (_, rows) => {
  it.each(rows)("%s expands to %s", (template, uri) => {
    expect(expand(template, values)).toBe(uri)
  })
})

describe("expansion", () => {
  it.each<[string, TemplateValues, string]>([
    ["{n}-{b}", { n: 0, b: false }, "0-false"],
    ["{text:2}", { text: "😀é日" }, "%F0%9F%98%80%C3%A9"],
    ["{+raw}", { raw: "a%2Fb%zz" }, "a%2Fb%25zz"],
    ["{a}", { a: "!'()*~" }, "%21%27%28%29%2A~"],
    ["日本/{a}", { a: "語" }, "%E6%97%A5%E6%9C%AC/%E8%AA%9E"],
    ["{a}", { a: "\ud800x" }, "%EF%BF%BDx"],
    ["{user-id}", { "user-id": "7" }, "7"],
    ["{a}", {}, ""],
    ["{toString}", {}, ""],
    ["{?a*}", { a: [""] }, "?a="],
    ["%2f{a}", { a: "1" }, "%2f1"],
  ])("of %s with %j is %s", (template, given, uri) => {
    expect(expand(template, given)).toBe(uri)
  })

  it("gives characters that a URI may hold, whatever the values are", () => {
    const anything = fc.dictionary(fc.constantFrom("a", "b"), fc.string({ unit: "binary" }))
    fc.assert(
      fc.property(anything, (given) => {
        expect(expand("x://{a}{+b}{/a}{?b}{#a}", given)).toMatch(
          /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-F]{2})*$/i,
        )
      }),
    )
  })
})

describe("a template that is refused", () => {
  it.each([
    ["an open brace", "a{b"],
    ["a closing brace alone", "a}b"],
    ["an empty expression", "{}"],
    ["an operator alone", "{+}"],
    ["a missing name", "{a,,b}"],
    ["an operator that is kept for later", "{=a}"],
    ["another such operator", "{|a}"],
    ["braces in braces", "{a{b}}"],
    ["a space in a name", "{a b}"],
    ["a name that ends with a dot", "{a.}"],
    ["a name with two dots", "{a..b}"],
    ["a prefix of zero", "{a:0}"],
    ["a prefix of five digits", "{a:10000}"],
    ["a prefix of a list", "{a:3*}"],
    ["a space", "a b{c}"],
    ["a quote", 'a"{c}'],
    ["a backslash", "a\\{c}"],
    ["a control character", "a\n{c}"],
    ["half an escape", "a%2{c}"],
    ["a percent sign", "100%{c}"],
    ["more than 2,048 characters", "a".repeat(2049)],
    ["more than 64 variables", `{${Array.from({ length: 65 }, (_, index) => `v${index}`).join(",")}}`],
  ])("because of %s says why", (_, template) => {
    const parsed = parseUriTemplate(template)
    expect(parsed.ok ? undefined : parsed.problem).toMatch(/\S/)
  })

  it("is never an exception", () => {
    const pieces = fc.array(fc.constantFrom("{", "}", "+", "?", "*", ":", "1", "a", ",", "/", "%", "é", ".", "\ud800"))
    fc.assert(
      fc.property(pieces, (list) => {
        const parsed = parseUriTemplate(list.join(""))
        if (parsed.ok) parsed.match(parsed.expand({ a: "b", "1": ["c"] }))
      }),
      { numRuns: 2000 },
    )
  })
})

describe("the variables of a template", () => {
  it.each([
    ["no/variables", []],
    ["{b}{a}", ["b", "a"]],
    ["{/var:1,var}{?list*,other}", ["var", "list", "other"]],
    ["{user-id}/{a.b}/{c%20d}", ["user-id", "a.b", "c%20d"]],
  ])("of %s are %j", (template, variables) => {
    const parsed = parseUriTemplate(template)
    expect(parsed.ok && parsed.variables).toEqual(variables)
  })
})
