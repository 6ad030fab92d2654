/** Every JSON-RPC error code that Conduit sends or reads, named once. */

/**
 * The named codes. `serverError`, `sessionNotFound`, `resourceNotFound`, `taskNotReady`, `urlElicitationRequired` and
 * `requestCancelled` belong to the legacy era; `headerMismatch`, `missingClientCapability` and
 * `unsupportedProtocolVersion` to the modern one. `taskNotReady` and `requestCancelled` are names for reading peers and
 * are never sent.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverError: -32000,
  sessionNotFound: -32001,
  resourceNotFound: -32002,
  taskNotReady: -32004,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
  urlElicitationRequired: -32042,
  requestCancelled: -32800,
} as const

/** The name of a code in {@link codes}. */
export type CodeName = keyof typeof codes

/** Whether `code` is one of the errors that only a server of the modern era sends: -32020, -32021, -32022. */
export function isModernError(code: unknown): boolean {
  return (
    code === codes.headerMismatch || code === codes.missingClientCapability || code === codes.unsupportedProtocolVersion
  )
}
