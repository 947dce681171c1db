/**
 * The part that loads OpenTelemetry. It reads the standard variables itself: sampler, limits, batches, headers,
 * resource.
 */
import { type Context, DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { Span, SpanOptions } from './span';
import { parseTraceparent } from './traceparent';

export type Tracer = ReturnType<typeof createTracer>;

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export function createTracer(service: string, log: Logger) {
  const logWarning = (text: string) => log.warn({ text }, 'traces');
  diag.setLogger({ error: logWarning, warn: logWarning, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'gantry' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('gantry');
  return {
    start(name: string, { kind, parent, startedAt, attributes }: SpanOptions): Span {
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], startTime: startedAt, attributes },
        toParentContext(parent),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end({ failed, attributes: more, at } = {}) {
          if (more) span.setAttributes(more);
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end(at);
        },
      };
    },
    close: () => provider.shutdown(),
  };
}

function toParentContext(parent: string | null | undefined): Context {
  const found = parseTraceparent(parent);
  if (!found) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = found;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}
