/** Data of an artifact that starting a run needs, read and compiled once: artifacts are immutable. */
import { PYTHON } from '@gantry/events';
import { createInputValidator, type InputValidator, isolationOfRun, keepRecent } from '@gantry/program';
import { type RunSpec, runLimits } from '@gantry/run-engine';
import type { Db } from '../database';
import { getArtifact } from './artifact-repository';
import { type Manifest, parseStoredManifest } from './manifest';

export interface Runnable {
  artifactId: string;
  manifest: Manifest;
  inputs: InputValidator;
  /** The spec of a deployed run without files. */
  spec: RunSpec;
}

/** A compiled runnable takes about 50 KB. */
const KEPT_MAX = 500;

export function createRunnables(db: Db) {
  const kept = keepRecent<Runnable>(KEPT_MAX);
  return {
    /** @throws AppError 404 */
    get: (workspaceId: string, artifactId: string): Promise<Runnable> =>
      kept(`${workspaceId} ${artifactId}`, () => load(db, workspaceId, artifactId)),
  };
}

export type Runnables = ReturnType<typeof createRunnables>;

async function load(db: Db, workspaceId: string, artifactId: string): Promise<Runnable> {
  const artifact = await getArtifact(db, workspaceId, artifactId);
  const manifest = parseStoredManifest(artifact.manifest);
  return {
    artifactId,
    manifest,
    inputs: createInputValidator(manifest.inputs),
    spec: {
      runner: PYTHON,
      code: { digest: artifact.digest, key: artifact.codeKey, size: artifact.codeSize },
      entrypoint: artifact.entrypoint,
      dependencies: manifest.python_dependencies,
      outputs: manifest.outputs.map(({ name, type }) => ({ name, type })),
      secrets: manifest.secrets_needed,
      files: [],
      limits: runLimits(manifest.timeout_seconds),
      network: 'egress',
      ...isolationOfRun(manifest.isolation),
    },
  };
}
