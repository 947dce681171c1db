export * from './byte-matcher';
export * from './redact';
export * from './redactor-cache';
