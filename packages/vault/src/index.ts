export * from './given-secrets';
export * from './key-ring';
export * from './key-rotation';
export * from './rotating-secret';
export * from './secret-store';
export * from './vault';
