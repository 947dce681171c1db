/** Data of an artifact that starting a run needs, read and compiled once: artifacts are immutable. */
import { PYTHON } from '@gantry/events';
import {
  createInputValidator,
  createLruCache,
  type FileDependencies,
  type InputValidator,
  toRunIsolation,
} from '@gantry/program';
import { buildRunLimits, type CodeVersionRef, type RunSpec } from '@gantry/run-engine';
import type { Db } from '../database';
import type { Artifact } from '../generated/prisma/client';
import { getArtifact } from './artifact-repository';
import { type Manifest, parseStoredManifest } from './manifest';

export interface Runnable {
  artifactId: string;
  manifest: Manifest;
  inputs: InputValidator;
  /** The spec of a deployed run without files. */
  spec: RunSpec;
}

/** The packages of an artifact, and the file that declares them; null: its manifest does, or nothing. */
export function getDependencies({ fileDependencies }: Pick<Artifact, 'fileDependencies'>, manifest: Manifest) {
  const fromFile = fileDependencies as FileDependencies | null;
  return {
    dependencies: fromFile?.packages ?? manifest.python_dependencies,
    dependenciesSource: fromFile?.source ?? null,
  };
}

/** Names an artifact, which never changes, in the locks of its packages. */
export const toCodeVersionRef = (id: string): CodeVersionRef => ({ id, version: '' });

/** A compiled runnable takes about 50 KB. */
const CACHED_MAX = 500;

export function createRunnableCache(db: Db) {
  const cache = createLruCache<Runnable>(CACHED_MAX);
  return {
    /** @throws AppError 404 */
    get: (workspaceId: string, artifactId: string): Promise<Runnable> =>
      cache(`${workspaceId} ${artifactId}`, () => loadRunnable(db, workspaceId, artifactId)),
  };
}

export type RunnableCache = ReturnType<typeof createRunnableCache>;

async function loadRunnable(db: Db, workspaceId: string, artifactId: string): Promise<Runnable> {
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
      dependencies: getDependencies(artifact, manifest).dependencies,
      lockedCode: toCodeVersionRef(artifactId),
      outputs: manifest.outputs.map(({ name, type }) => ({ name, type })),
      secrets: manifest.secrets_needed,
      files: [],
      limits: buildRunLimits(manifest.timeout_seconds),
      network: 'egress',
      ...toRunIsolation(manifest.isolation),
    },
  };
}
