export { parseHosts } from './host-patterns';
export * from './key-ring';
export * from './key-rotation';
export * from './rotating-secret';
export * from './run-secrets';
export * from './secret-store';
export * from './vault';
