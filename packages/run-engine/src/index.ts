export * from './engine';
export type { Include } from './live-stream';
export * from './run';
export * from './run-limits';
export type { RunArtifact, RunFilter } from './run-queries';
