export * from './engine';
export type { Include } from './live-stream';
export * from './run';
export type { RunArtifact, RunFilter } from './run-queries';
