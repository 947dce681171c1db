/** Keeping the code of a version where executors fetch it, and having one of them look into it. */
import { formatInspectionWarnings, inspectEntrypoint } from '@gantry/program';
import type { FileTree } from '../file-trees/file-tree';
import { packTree, type TreePack } from '../file-trees/tree-pack';
import type { Worker } from '../generated/prisma/client';
import type { Definition } from './definition';
import type { WorkerDeps } from './worker-deps';

const INSPECT_URL_SECONDS = 60;

export type CodeDeps = Pick<WorkerDeps, 'objects' | 'pool' | 'bus'>;

export const buildCodePrefix = (workspaceId: string, uid: string): string => `${workspaceId}/workers/${uid}`;

export const packCode = (
  deps: CodeDeps,
  { workspaceId, uid }: Pick<Worker, 'workspaceId' | 'uid'>,
  tree: FileTree,
): Promise<TreePack> => packTree(deps, buildCodePrefix(workspaceId, uid), tree);

/**
 * @returns what runs would probably fail for; of an agent nothing, since its file is words
 * @throws AppError 400 `no_run`, `syntax_error`; 503 with no executor to ask
 */
export async function inspectCode(
  { objects, bus }: CodeDeps,
  { runner, entrypoint, inputs, secrets, python_dependencies: dependencies }: Definition,
  { digest, key, size }: TreePack,
): Promise<string[]> {
  if (runner === 'agent') return [];
  const url = await objects.presignGet(key, { audience: 'internal', expiresSeconds: INSPECT_URL_SECONDS });
  const inspected = await inspectEntrypoint(bus, { code: { digest, url, size }, entrypoint });
  return formatInspectionWarnings(inspected, { inputs, dependencies, secrets });
}
