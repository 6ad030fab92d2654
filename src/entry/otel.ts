/** `conduit-mcp/otel`: traces and metrics for OpenTelemetry. Needs `@opentelemetry/api`. */
export { otel } from "../observe/otel.js"
