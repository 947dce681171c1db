/** W3C Trace Context: `00-<trace>-<parent span>-<flags>`. Whatever else a caller sends is as good as nothing. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export function parseTraceparent(header: string | null | undefined) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(header ?? '') ?? [];
  return traceId && spanId ? { traceId, spanId, flags: Number.parseInt(flags ?? '', 16) } : undefined;
}

/** For log lines: `trace_id`, where there is a trace. */
export function toTraceFields(traceparent: string | null | undefined): { trace_id?: string } {
  const context = traceparent && parseTraceparent(traceparent);
  return context ? { trace_id: context.traceId } : {};
}

const SAMPLED = 1;

/** @param template see TRACE_URL_TEMPLATE. @returns undefined without one, and for a trace that the sampler left out */
export function formatTraceUrl(template: string | undefined, traceparent: string | null): string | undefined {
  const context = template ? parseTraceparent(traceparent) : undefined;
  return context && context.flags & SAMPLED ? template?.replaceAll('{trace_id}', context.traceId) : undefined;
}
