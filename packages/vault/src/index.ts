export * from './key-ring';
export * from './secret-store';
export * from './vault';
