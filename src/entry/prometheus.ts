/** `conduit-mcp/prometheus`: metrics in the text format that Prometheus reads. Needs nothing. */
export { type Prometheus, type PrometheusOptions, prometheus } from "../observe/prometheus.js"
