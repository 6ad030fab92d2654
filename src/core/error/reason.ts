/** The closed list of reasons: a stable slug for every way in which something can be refused or fail. */

/**
 * Every reason, by the kind of error that carries it. Each has an anchor of the same name in `docs/errors.md`; a test holds
 * the two lists together.
 */
export const reasons = {
  protocol: [
    "jsonrpc",
    "parse_error",
    "invalid_utf8",
    "invalid_request",
    "batch_unsupported",
    "too_deep",
    "too_many_keys",
    "duplicate_key",
    "forbidden_key",
    "number_out_of_range",
    "invalid_params",
    "missing_meta",
    "header_mismatch",
    "unsupported_protocol_version",
    "method_not_found",
    "missing_client_capability",
    "no_session",
    "session_not_found",
    "already_initialized",
    "duplicate_request_id",
    "unexpected_response",
    "unknown_tool",
    "unknown_prompt",
    "resource_not_found",
    "invalid_cursor",
    "internal_error",
    "request_state_invalid",
    "request_state_expired",
    "request_state_consumed",
    "replay_diverged",
    "too_many_rounds",
    "state_too_large",
  ],
  transport: [
    "host_not_allowed",
    "origin_not_allowed",
    "cross_site",
    "path_not_found",
    "method_not_allowed",
    "unsupported_media_type",
    "unsupported_encoding",
    "not_acceptable",
    "body_too_large",
    "body_timeout",
    "body_consumed",
    "line_too_long",
    "overloaded",
    "draining",
    "cannot_listen",
  ],
  authorization: ["unauthenticated", "forbidden"],
  validation: ["invalid_arguments", "invalid_output", "invalid_answer"],
  misuse: [
    "invalid_definition",
    "duplicate_definition",
    "invalid_schema",
    "schema_without_json",
    "invalid_option",
    "ambiguous_question",
    "unsafe_bind",
    "already_serving",
  ],
  timeout: ["handler_timeout"],
  cancelled: ["call_ended"],
  connection_down: [],
  policy: [],
} as const satisfies Record<string, readonly string[]>

/** The closed list of error kinds. */
export type ErrorKind = keyof typeof reasons

/** A reason's slug. */
export type Reason = (typeof reasons)[ErrorKind][number]
