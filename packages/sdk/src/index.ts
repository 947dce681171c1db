/** A typed client of Gantry for browsers, Node and other runtimes that have fetch and Web Crypto. */
export * from './api-error';
export {
  type AutomationSchemas,
  type ClientOptions,
  type Clients,
  createClients,
  type SkillsSchemas,
  type WorkerSchemas,
} from './clients';
export { createDataClient, type DataClient, type DataClients } from './data-client';
export * from './event-stream';
export * from './gantry';
export * from './idempotency-key';
export * from './pagination';
export { createRetryingFetch, type RetryOptions } from './retry';
export * from './runs';
export * from './webhook-signature';
