export * from './key-ring';
export * from './vault';
