import './request';

export * from './actor';
export * from './admission';
export * from './allowed-methods';
export * from './api-fields';
export * from './audit';
export * from './backpressure';
export type { CheckBody } from './body-problems';
export { atSpeed } from './body-speed';
export * from './bounded-yaml';
export * from './drained';
export * from './errors';
export * from './escape-html';
export * from './event-stream';
export type { ErrorShape } from './failed-request';
export {
  type Answer,
  type AnyOperations,
  answer,
  type Call,
  type CallOf,
  type Creating,
  created,
  type Handler,
  noContent,
  type Operations,
  ok,
  type Requester,
} from './handler';
export * from './health';
export { readHosts, requireHosts } from './host-patterns';
export * from './idempotency';
export { type HeldKey, heldKeyParams, keyLost, markKeySql, sweepIdempotencyKeys } from './idempotency-keys';
export { JSON_BYTES_MAX } from './json-body';
export * from './json-depth';
export { measureJson } from './json-size';
export * from './log';
export { answerMalformedRequests, HEADER_BYTES_MAX } from './malformed-request';
export { gaugesReadTogether, serveMetrics } from './metrics';
export { isMoment } from './moment';
export * from './next-page';
export * from './observe-service';
export * from './open-streams';
export * from './openapi-document';
export { documentsOf, type SurfaceAddresses } from './other-surfaces';
export * from './page-cursor';
export * from './parse-json';
export * from './permissions';
export * from './places';
export * from './principal';
export * from './query-date';
export * from './rate-count';
export * from './rate-limit';
export * from './repeat';
export * from './restriction';
export { sayIssues, sayProblem } from './say-problem';
export { encodeJson, StoredJson } from './stored-json';
export * from './surface';
export { leaveBodyUnread } from './unread-body';
export { memoryForAll, readBody } from './upload';
export * from './write-behind';
