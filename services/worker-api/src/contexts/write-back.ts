/**
 * Writes back the changes of runs to their writeable contexts.
 *
 * Applied once the run has completed. Idempotent for repeated announcements: a context has at most one version per
 * run. The last write wins, even over a concurrent change by another person; the version's message says so, and the
 * other version is in the history. The archive comes from user code and is validated like an upload.
 */

import { createHash } from 'node:crypto';
import { AppError } from '@gantry/errors';
import type { EventHandlerFor, runFinished } from '@gantry/events';
import { SYSTEM } from '@gantry/http';
import { ObjectMissingError, ObjectTooLargeError } from '@gantry/object-store';
import { readPackedFiles } from '@gantry/program';
import type { Run, RunEngine } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { recordChange } from '../audit/audit-entry';
import { applyFileChanges, type FileTree, isIgnored, TREE_BYTES_MAX } from '../file-trees/file-tree';
import type { Context } from '../generated/prisma/client';
import type { ContextDeps } from './context-deps';
import { findContext, findVersionNumberByPack, hasVersionOfRun, type Version } from './context-repository';
import { appendTreeWithRetry, buildPackPrefix } from './context-service';

type ContextChange = Awaited<ReturnType<RunEngine['contextChanges']>>[number];
type WriteBackDeps = Pick<ContextDeps, 'prisma' | 'pool' | 'objects' | 'engine' | 'log'>;

/** Allows for names and headers in addition to the files' contents. */
const ARCHIVE_BYTES_MAX = TREE_BYTES_MAX + 2 * 1024 * 1024;

export function createContextWriteBackHandler(deps: WriteBackDeps): EventHandlerFor<typeof runFinished> {
  /** Null for a deleted run, whether with its worker or by age. */
  const findRun = (workspaceId: string, runId: string) =>
    deps.engine.get(workspaceId, runId).catch((err) => {
      if (err instanceof AppError && err.kind === 'not_found') return null;
      throw err;
    });
  return {
    name: 'context-write-back',
    wants: async ({ source, status, runId }, workspaceId) => {
      if (source !== 'worker' || status !== 'completed') return false;
      const run = await findRun(workspaceId, runId);
      return run?.spec.contexts?.some(({ writeable }) => writeable) ?? false;
    },
    handle: async (tx, { workspaceId, data }) => {
      const run = await findRun(workspaceId, data.runId);
      if (!run) return;
      for (const change of await deps.engine.contextChanges(run)) await writeBackChange(deps, tx, run, change);
    },
  };
}

async function writeBackChange(deps: WriteBackDeps, tx: PoolClient, run: Run, change: ContextChange): Promise<void> {
  const { prisma } = deps;
  const context = await findMountedContext(deps, run, change.name);
  if (!context || (await hasVersionOfRun(prisma, context, run.id))) return;
  const tree = await readChangedTree(deps, change);
  if (typeof tree === 'string') {
    deps.log.warn({ runId: run.id, context: context.name, reason: tree }, 'context changes not saved');
    const { workspaceId, name: id } = context;
    await recordChange(tx, SYSTEM, 'context.write_back_refused', { workspaceId, id }, { run_id: run.id, reason: tree });
    return;
  }
  const findRun = async () => (await findMountedContext(deps, run, change.name)) ?? context;
  await appendTreeWithRetry(deps, SYSTEM, findRun, async (current) => ({
    tree,
    message: await buildMessage(deps, context, run, change, current),
    changeSource: 'run',
    runId: run.id,
    authorId: null,
    authorLabel: null,
  }));
}

/** Null if the run did not have write access to it, or it has been replaced since, or is no longer writeable. */
async function findMountedContext({ prisma }: WriteBackDeps, run: Run, name: string): Promise<Context | null> {
  const given = run.spec.contexts?.find((one) => one.name === name && one.writeable);
  const context = given ? await findContext(prisma, run.workspaceId, name) : null;
  const isSame = context && given?.key.startsWith(`${buildPackPrefix(run.workspaceId, context.uid)}/`);
  return isSame && context.writeable ? context : null;
}

/** A string is the reason why it cannot be stored. */
async function readChangedTree({ objects }: WriteBackDeps, change: ContextChange): Promise<FileTree | string> {
  let bytes: Buffer;
  try {
    bytes = await objects.getBuffer(change.key, ARCHIVE_BYTES_MAX);
  } catch (err) {
    if (err instanceof ObjectMissingError) return 'the archive was not uploaded';
    if (err instanceof ObjectTooLargeError) return 'the archive is too large';
    throw err;
  }
  if (createHash('sha256').update(bytes).digest('hex') !== change.sha256) return 'the archive has the wrong checksum';
  try {
    const files = await readPackedFiles(bytes);
    return applyFileChanges(
      [],
      files.filter(({ path }) => !isIgnored(path)),
    );
  } catch (err) {
    return err instanceof AppError ? err.detail : `the archive cannot be read: ${(err as Error).message}`.slice(0, 500);
  }
}

async function buildMessage(
  { prisma }: WriteBackDeps,
  context: Context,
  run: Run,
  change: ContextChange,
  current: Version,
): Promise<string> {
  const by = `Written by run ${run.id} of ${run.subjectRef ?? 'a worker'}`;
  if (change.from === current.pack.digest) return by;
  const seen = await findVersionNumberByPack(prisma, context, change.from);
  return `${by}, based on ${seen === null ? 'another version' : `version ${seen}`} and without later changes`;
}
