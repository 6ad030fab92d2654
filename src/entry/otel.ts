/** `conduit-mcp/otel`: traces and metrics for OpenTelemetry. Needs `@opentelemetry/api`. */
export { type Otel, otel } from "../observe/otel/otel.js"
