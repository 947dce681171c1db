export * from './env';
export { traceFields, traceUrl } from './traceparent';
export * from './tracing';
