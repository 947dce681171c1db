export * from './key-ring';
export * from './key-rotation';
export * from './secret-store';
export * from './vault';
