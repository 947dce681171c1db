export * from './serve-tasks';
export * from './thread-pool';
