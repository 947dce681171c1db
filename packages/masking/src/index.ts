export * from './byte-matcher';
export * from './mask-strings';
export * from './redact';
export * from './redactor-cache';
export { MASK, type RedactedStream } from './replacing-stream';
