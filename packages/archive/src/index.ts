export * from './bad-archive-error';
export { collisionKey, findPathProblem } from './file-path';
export * from './read-zip';
export * from './write-zip';
