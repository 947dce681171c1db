import { startSpan, toTraceFields } from '@gantry/tracing';
import type { Request, Response } from 'express';
import type { Operation } from './openapi-document';

/** Monitoring polls these constantly. */
const untracedOperations = new Set(['live', 'ready']);
const FIRST_FAILURE = 500;

/** Starts a span for the request and replaces its `traceparent`, so that its runs continue the trace. */
export function traceRequest(operation: Operation, req: Request, res: Response): void {
  if (untracedOperations.has(operation.id)) return;
  const span = startSpan(operation.id, {
    kind: 'server',
    parent: req.get('traceparent'),
    attributes: { 'http.request.method': operation.method.toUpperCase(), 'http.route': operation.path },
  });
  if (!span) return;
  req.headers.traceparent = span.traceparent;
  req.log = req.log.child(toTraceFields(span.traceparent));
  res.once('close', () =>
    span.end({
      failed: res.statusCode >= FIRST_FAILURE,
      attributes: { 'http.response.status_code': res.statusCode },
    }),
  );
}
