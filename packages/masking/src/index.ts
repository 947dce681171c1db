export * from './byte-matcher';
export * from './mask-texts';
export * from './redact';
export * from './redactor-cache';
export { MASK, type RedactedStream } from './replacing-stream';
