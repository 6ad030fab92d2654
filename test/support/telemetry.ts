/** OpenTelemetry's own SDK in memory, registered for the tests of one file. */
import { context, metrics, trace } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base"
import { afterAll, beforeAll, beforeEach } from "vitest"

/** What was exported since the test began. */
export interface Telemetry {
  /** All spans that have ended, in the order of their ends. */
  spans(): readonly ReadableSpan[]
  histogram(name: string): Promise<HistogramMetricData>
}

/** Registers the SDK before the tests of a file, and empties it before each. */
export function useTelemetry(): Telemetry {
  const exported = new InMemorySpanExporter()
  const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA)
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 2 ** 30 })
  const meters = new MeterProvider({ readers: [reader] })
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exported)] }))
    metrics.setGlobalMeterProvider(meters)
  })
  beforeEach(async () => {
    await reader.forceFlush()
    exported.reset()
    measured.reset()
  })
  afterAll(async () => {
    trace.disable()
    metrics.disable()
    context.disable()
    await meters.shutdown()
  })
  return {
    spans: () => exported.getFinishedSpans(),
    async histogram(name) {
      await reader.forceFlush()
      const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      const found = all.find(({ descriptor }) => descriptor.name === name)
      if (found?.dataPointType !== DataPointType.HISTOGRAM) throw new Error(`${name} is a histogram`)
      return found
    },
  }
}
