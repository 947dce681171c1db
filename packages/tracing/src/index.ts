export * from './env';
export type { Span } from './span';
export { traceFields, traceUrl } from './traceparent';
export * from './tracing';
