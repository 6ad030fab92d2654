/** The known kinds of hostile message, each by name, as somebody has sent them to some server; as bytes, in either era. */
import type { EraName } from "./messages.js"

/** One kind, and messages of it. */
export type HostileKind = readonly [name: string, messages: (write: Write) => readonly string[]]

/** Writes a request of the era, with params and an id as raw JSON text. */
export type Write = (method: string, params?: string, id?: string) => string

const META: Readonly<Record<EraName, string>> = {
  modern:
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}',
  legacy: '"_meta":{"progressToken":1}',
}

/** Writes requests of an era. */
export function writerOf(era: EraName): Write {
  return (method, params = "", id = "1") => {
    const members = params === "" ? META[era] : `${META[era]},${params}`
    return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${members}}}`
  }
}

const call = (args: string, name = "mirror"): string => `"name":${JSON.stringify(name)},"arguments":${args}`
const read = (uri: string): string => `"uri":${JSON.stringify(uri)}`
const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels)

export const hostileKinds: readonly HostileKind[] = [
  [
    "keys that reach for prototypes",
    (write) => [
      write("tools/call", call('{"__proto__":{"polluted":true}}')),
      write("tools/call", call('{"\\u005f_proto__":{"polluted":true}}')),
      write("tools/call", call('{"constructor":{"prototype":{"polluted":true}}}')),
      write("tools/call", call('{"a":{"__proto__":{"polluted":true}}}')),
      write("prompts/get", call('{"__proto__":"polluted","text":"a"}', "say")),
      write("completion/complete", '"ref":{"type":"ref/prompt","name":"__proto__"},"argument":{"name":"a","value":""}'),
    ],
  ],
  [
    "names that every object has",
    (write) =>
      ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "prototype"].flatMap((name) => [
        write("tools/call", call("{}", name)),
        write("prompts/get", call("{}", name)),
        write("resources/read", read(name)),
        write(name),
      ]),
  ],
  [
    "keys that stand twice",
    (write) => [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{}}',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list","params":{}}',
      write("tools/call", '"name":"echo","name":"mirror","arguments":{}'),
      write("tools/call", call('{"a":1,"a":2}')),
    ],
  ],
  [
    "keys and names that only look the same",
    (write) => [
      '{"jsonrpc":"2.0","id":1,"Method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"METHOD":"tools/list","method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","param\u017f":{"name":"echo"}}',
      write("tools/call", call("{}", "\u00e9cho")),
      write("tools/call", call("{}", "e\u0301cho")),
      write("tools/call", call("{}", "Echo")),
      write("tools/\u212aall"),
    ],
  ],
  [
    "what is too deep",
    (write) => [
      "[".repeat(100_000),
      nested("[", "]", 100_000),
      nested('{"a":', "}", 20_000),
      write("tools/call", call(`{"a":${nested("[", "]", 10_000)}}`)),
      write("tools/call", `"a":${nested('{"a":', "}", 63).replace(":}", ":1}")},${call("{}")}`),
    ],
  ],
  [
    "what is too wide",
    (write) => [
      write("tools/call", call(`{"a":[${"1,".repeat(60_000)}1]}`)),
      write(
        "tools/call",
        call(`{${Array.from({ length: 50_001 }, (_, index) => `"${index.toString(36)}":1`).join(",")}}`),
      ),
      `[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(1_000)}{}]`,
    ],
  ],
  [
    "odd numbers",
    (write) => [
      ...["1.5", "1e3", "-0", "0", "9007199254740991", "9007199254740993", "1e400", "12345678901234567890"].map((id) =>
        write("ping", "", id),
      ),
      ...["1e400", "-1e400", "1E-999", "-0", "9".repeat(400)].map((value) =>
        write("tools/call", call(`{"a":${value}}`)),
      ),
      write("logging/setLevel", '"level":1e400'),
    ],
  ],
  [
    "odd ids",
    (write) =>
      ['""', '"\\u0000"', '"\\ud800"', "null", "{}", "[1]", "true", '"__proto__"'].map((id) => write("ping", "", id)),
  ],
  [
    "odd texts",
    (write) =>
      ['"\\ud800"', '"\\u0000"', '"\\u2028\\u2029"', '"\\u202e"', `"${"x".repeat(200_000)}"`].flatMap((text) => [
        write("tools/call", call(`{"text":${text}}`, "echo")),
        write("tools/call", call(`{"text":${text}}`, "report")),
        write("tools/call", call(`{"text":${text}}`, "refuses")),
      ]),
  ],
  [
    "wrong types",
    (write) => [
      ...["null", '""', "[]", "{}", "1", "true", "x"],
      '{"jsonrpc":2.0,"id":1,"method":"ping"}',
      '{"jsonrpc":"1.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"method":1}',
      ...["[]", '"x"', "1", "null", "true"].map(
        (params) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`,
      ),
      ...["[]", '"x"', "null", "1"].map((args) => write("tools/call", call(args))),
      ...["[]", "1", "null"].map((name) => write("tools/call", `"name":${name}`)),
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}`,
    ],
  ],
  [
    "methods that are not there",
    (write) => [
      ...[
        "rpc.x",
        "notifications/cancelled",
        "tasks/list",
        "tasks/get",
        "sampling/createMessage",
        "",
        "a".repeat(9_999),
      ].map((method) => write(method)),
      write("initialize", '"protocolVersion":"2026-07-28","capabilities":{}'),
      write("initialize", '"protocolVersion":"1.0"'),
      write("initialize"),
    ],
  ],
  [
    "responses to nothing",
    () => [
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":""}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-1,"message":""}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}',
    ],
  ],
  [
    "uris that are long, odd or lead elsewhere",
    (write) =>
      [
        `test://query?tags=${",".repeat(100_000)}`,
        `test://one/${Array.from({ length: 10_000 }, (_, index) => index).join(",")}X`,
        "file:///data/../../etc/passwd",
        "file:///data/%2e%2e%2fetc",
        "file:///data/..%5cetc",
        "file:///data/a%00b",
        "file://host/data/a",
        "test://one/%zz",
        "test://one/%c0%80",
        "not a uri",
        "",
      ].map((uri) => write("resources/read", read(uri))),
  ],
  [
    "schemas that are asked for much",
    (write) => [
      write("tools/call", call(`{"code":"${"a".repeat(50_000)}!"}`, "check")),
      write("tools/call", call(`{"mail":"${"a".repeat(50_000)}@"}`, "check")),
      write("tools/call", call(`{"host":"${"a-".repeat(50_000)}"}`, "check")),
      write("tools/call", call(`{"list":[${Array.from({ length: 2_000 }, (_, index) => index).join(",")}]}`, "check")),
      write("tools/call", call(`{"tree":${nested('{"next":', "}", 55).replace(":}", ":{}}")}}`, "check")),
    ],
  ],
  [
    "forged handles",
    (write) => [
      ...["AAAA", "", "null", "../../x", "*", "\n:", "a".repeat(300_000)].flatMap((forged) => [
        write("tools/call", `${call('{"text":"a"}', "ask")},"requestState":${JSON.stringify(forged)}`),
        write("tools/list", `"cursor":${JSON.stringify(forged)}`),
        write("tasks/get", `"taskId":${JSON.stringify(forged)}`),
      ]),
      write("tools/call", `${call('{"text":"a"}', "ask")},"inputResponses":{"__proto__":{"action":"accept"}}`),
      write("tools/call", `${call('{"text":"a"}', "ask")},"inputResponses":[]`),
    ],
  ],
  [
    "streams that ask for anything",
    (write) => [
      write("subscriptions/listen", '"notifications":{"resourceSubscriptions":["__proto__","test://one/1"]}'),
      write("subscriptions/listen", `"notifications":{"resourceSubscriptions":[${'"a",'.repeat(9_999)}"a"]}`),
      write("subscriptions/listen", '"notifications":null'),
      write("resources/subscribe", '"uri":"__proto__"'),
      write("resources/subscribe", '"uri":1'),
    ],
  ],
]

/** Bytes that are no UTF-8, or hold more than a message. */
export const hostileBytes: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ["a byte order mark of UTF-16", [0xff, 0xfe]],
  ["an overlong NUL", [0x22, 0xc0, 0x80, 0x22]],
  ["half a surrogate pair", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ["a NUL", [0x00]],
  ["two byte order marks", [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
]
