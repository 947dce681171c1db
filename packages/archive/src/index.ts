export * from './bad-archive';
export { collisionKey, pathProblem } from './file-path';
export * from './read-zip';
export * from './write-zip';
