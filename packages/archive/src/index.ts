export * from './bad-archive-error';
export { findPathProblem, toCollisionKey } from './file-path';
export * from './read-zip';
export * from './write-zip';
