export * from './declared-dependency';
export * from './file-dependencies';
