export * from './fetch-tool';
export * from './find-tool';
export * from './migrate';
export * from './nats';
export * from './nats-config';
export * from './postgres';
export * from './process';
export * from './shared-dir';
