/**
 * Spans, written by hand at the few places where a run changes hands. Their parent is the traceparent that the request, the
 * run or the job carries. Without an endpoint nothing of OpenTelemetry is loaded, and a span costs one comparison.
 *
 * No attribute holds what people wrote: no inputs, names, messages or addresses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type TracingEnv, tracingEnv } from './env';
import type { Tracer } from './otlp';
import type { Span, SpanOptions } from './span';

let tracer: Tracer | undefined;

/** A receiver that is away must not hold up the end of a process. */
const CLOSE_MS_MAX = 2_000;

/** @returns sends what is left, and ends it */
export function startTracing(service: string, env: TracingEnv, log: Logger): () => Promise<void> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED === 'true') return async () => {};
  // The SDK reads them by itself, and knows nothing of files.
  for (const name of Object.keys(tracingEnv) as (keyof TracingEnv)[]) {
    if (env[name] !== undefined) process.env[name] = String(env[name]);
  }
  const { createTracer } = require('./otlp') as typeof import('./otlp');
  const opened = createTracer(service, log);
  tracer = opened;
  return async () => {
    tracer = undefined;
    await Promise.race([opened.close().catch(() => {}), sleep(CLOSE_MS_MAX)]);
  };
}

/** Undefined without an endpoint for spans. */
export const startSpan = (name: string, options: SpanOptions): Span | undefined => tracer?.start(name, options);
