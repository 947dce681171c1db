export * from './env';
export type { Span } from './span';
export { formatTraceUrl, toTraceFields } from './traceparent';
export * from './tracing';
