/** Creates a worker without code in the object store: for tests whose executor is a stand-in. */
import { newId } from '@gantry/events';
import { type DefinitionInput, parseDefinition } from '../workers/definition';
import { insertVersion } from '../workers/version-repository';
import type { TestWorkerApi } from './test-worker-api';

export interface MadeWorker {
  uid: string;
  /** The slug. */
  id: string;
}

export async function createTestWorker(
  api: Pick<TestWorkerApi, 'deps' | 'workspaceId'>,
  options: {
    definition?: DefinitionInput;
    visibility?: 'private' | 'workspace';
    ownerId?: string;
    workspaceId?: string;
    status?: 'active' | 'paused' | 'archived';
  } = {},
): Promise<MadeWorker> {
  const { workspaceId = api.workspaceId, visibility = 'workspace', ownerId = null, status = 'active' } = options;
  const uid = newId('wrk_');
  const id = uid.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  await api.deps.prisma.worker.create({
    data: {
      uid,
      id,
      workspaceId,
      visibility,
      ownerId,
      status,
      name: 'Made by a test',
      description: '',
      tags: [],
      runner: 'python',
      currentVersion: 1,
    },
  });
  await addVersion(api, { uid, id }, { number: 1, definition: options.definition ?? {}, workspaceId });
  return { uid, id };
}

/** And makes it the current one. */
export async function addVersion(
  api: Pick<TestWorkerApi, 'deps' | 'workspaceId'>,
  worker: MadeWorker,
  version: { number: number; definition: DefinitionInput; workspaceId?: string },
): Promise<void> {
  const { number, definition, workspaceId = api.workspaceId } = version;
  const digest = number.toString(16).padStart(64, '0');
  await insertVersion(api.deps.prisma, workspaceId, {
    workerUid: worker.uid,
    number,
    sha: digest,
    files: [],
    changeSource: 'created',
    definition: parseDefinition(definition),
    code: { digest, key: `${workspaceId}/workers/${worker.uid}/${digest}.zip`, size: 1 },
    message: null,
    authorId: null,
    authorLabel: null,
    needsApproval: false,
  });
  await api.deps.prisma.worker.update({ where: { uid: worker.uid }, data: { currentVersion: number } });
}
