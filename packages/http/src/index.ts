import './request';

export * from './actor';
export * from './allowed-methods';
export * from './api-client';
export * from './api-fields';
export * from './audit';
export * from './backpressure';
export type { CheckBody } from './body-problems';
export * from './bounded-yaml';
export * from './caller';
export type { ErrorShape } from './error-handler';
export * from './escape-html';
export * from './event-stream';
export {
  type AnyOperations,
  type Call,
  created,
  type Handler,
  type HandlerResponse,
  type IdempotentHandler,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  type Requester,
  respondWith,
} from './handler';
export * from './health';
export { JSON_BYTES_MAX } from './json-body';
export * from './json-depth';
export { measureJsonSize } from './json-size';
export * from './log';
export { HEADER_BYTES_MAX, handleMalformedRequests } from './malformed-request';
export { registerGauges, serveMetrics } from './metrics';
export { enforceMinBodyRate } from './min-body-rate';
export * from './next-page';
export * from './observe-service';
export * from './open-streams';
export * from './openapi-document';
export { getSurfaceDocuments, type SurfaceAddresses } from './other-surfaces';
export * from './page-cursor';
export * from './parse-json';
export * from './permissions';
export * from './query-date';
export { encodeJson, StoredJson } from './stored-json';
export * from './surface';
export { isTimestamp } from './timestamp';
export { discardBody } from './unread-body';
export { createMemoryStorage, readBody } from './upload';
export * from './wait-for-drain';
