/** A tool's input with the breadth of draft 2020-12: references, anchors, composition and conditions. */
export const json2020Tool = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    place: {
      $anchor: "placeDef",
      type: "object",
      properties: { road: { type: "string" }, town: { type: "string" } },
    },
  },
  properties: {
    who: { type: "string" },
    place: { $ref: "#/$defs/place" },
    by: { type: "string", enum: ["call", "mail"] },
    call: { type: "string" },
    mail: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["call"] }, { required: ["mail"] }] }],
  if: { properties: { by: { const: "call" } }, required: ["by"] },
  then: { required: ["call"] },
  else: { required: ["mail"] },
  additionalProperties: false,
}
