/** Changes of contexts: rows, versions and their packs. Everything commits together with its audit entry. */

import { conflict } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Actor, OperationCall, Requester } from '@gantry/http';
import type { MarkCreated } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { assertCanManage, findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import type { Db } from '../database';
import { listDeclaringWorkers, requireUnusedResource } from '../declarations/declaring-workers';
import { applyFileEdits, computeVersionSha, type FileTree, listEntries, listLostPaths } from '../file-trees/file-tree';
import { createKeyedMutex } from '../file-trees/keyed-mutex';
import { packTree, readTreeForUpdate, restorePack } from '../file-trees/tree-pack';
import type { Context } from '../generated/prisma/client';
import type { ContextDeps } from './context-deps';
import {
  appendVersion,
  type ContextChangeSource,
  deleteContextRows,
  getCurrentVersion,
  getVersionBySha,
  getVisibleContext,
  insertContext,
  insertVersion,
  type Version,
} from './context-repository';
import { type CredentialFinding, FINDINGS_MAX, findCredentials } from './credential-findings';

const CONTEXTS_MAX = 500;
/** Maximum number of retries after losing a race with another replica. */
const ATTEMPTS_MAX = 5;

type NewContext = OperationCall<'worker', 'createContext'>['body'];

/** @throws AppError 400 naming unacceptable files; 409 `name_taken`, `too_many_contexts` */
export async function createContext(
  deps: ContextDeps,
  { caller, actor, markCreated }: Requester,
  { name, description = '', writeable = false, visibility = 'workspace', files = [] }: NewContext,
): Promise<void> {
  const { workspaceId } = caller;
  const tree = applyFileEdits([], files);
  const uid = newId('ctx_');
  const pack = await packTree(deps, buildPackPrefix(workspaceId, uid), tree);
  const entries = listEntries(tree);
  await transaction(deps.prisma, async (tx) => {
    if ((await tx.context.count({ where: { workspaceId } })) >= CONTEXTS_MAX) {
      throw conflict('too_many_contexts', `a workspace can have at most ${CONTEXTS_MAX} contexts`);
    }
    const settings = { name, description, writeable, visibility };
    const now = deps.now();
    const row = { uid, workspaceId, ...settings, currentVersion: 1, createdAt: now, updatedAt: now };
    if (!(await insertContext(tx, { ...row, ownerId: findOwnerId(caller) }))) {
      throw conflict('name_taken', `name: there is already a context called "${name}"`);
    }
    await insertVersion(tx, workspaceId, {
      contextUid: uid,
      number: 1,
      sha: computeVersionSha(entries),
      files: entries,
      pack,
      findings: listCredentialFindings(tree, { files: [], findings: [] }),
      message: null,
      authorId: findOwnerId(caller),
      authorLabel: actor.label,
      changeSource: 'created',
      runId: null,
    });
    await recordContextChange(tx, actor, { workspaceId, name }, 'created', {
      visibility,
      writeable,
      files: entries.length,
    });
    await markCreated(tx, name);
  });
}

/** @throws AppError 404, 403 if the caller may not change the visibility */
export async function updateContext(
  deps: ContextDeps,
  { caller, actor }: Requester,
  name: string,
  settings: OperationCall<'worker', 'updateContext'>['body'],
): Promise<void> {
  const { workspaceId } = caller;
  await transaction(deps.prisma, async (tx) => {
    const context = await getVisibleContext(tx, caller, name);
    if (settings.visibility !== undefined && settings.visibility !== context.visibility) {
      assertCanManage(caller, context, 'context');
    }
    await tx.context.updateMany({ where: { workspaceId, uid: context.uid }, data: settings });
    const { description: _, ...told } = settings;
    await recordContextChange(tx, actor, context, 'updated', { fields: Object.keys(settings), ...told });
  });
}

/** @throws AppError 404, 403, 409 `in_use` naming the workers that declare it */
export async function deleteContext(
  deps: ContextDeps,
  { caller, actor }: Requester,
  name: string,
  { force }: { force: boolean },
): Promise<void> {
  const { prisma, pool } = deps;
  const context = await getVisibleContext(prisma, caller, name);
  assertCanManage(caller, context, 'context');
  if (!force) {
    const workers = await listDeclaringWorkers(pool, caller.workspaceId, 'contexts');
    requireUnusedResource(caller, `context "${name}"`, workers.get(name));
  }
  await transaction(prisma, async (tx) => {
    await deleteContextRows(tx, context);
    await recordContextChange(tx, actor, context, 'deleted', { forced: force });
  });
}

export interface FilesChange {
  /** Derives the new tree from the current one; may be called again on a retry. */
  change: (tree: FileTree) => FileTree;
  message: string | null;
  changeSource: ContextChangeSource;
}

export interface FilesChangeResult {
  /** Findings in new and changed files. */
  findings: CredentialFinding[];
  /** Files of the version before that the new one lacks because the object store has lost their content. */
  lostPaths: string[];
}

/**
 * Appends a version, unless the files are unchanged.
 * @throws AppError 400, 404; 409 `busy`
 */
export async function changeFiles(
  deps: ContextDeps,
  { caller, actor, markCreated }: Requester,
  name: string,
  { change, message, changeSource }: FilesChange,
): Promise<FilesChangeResult> {
  let lostPaths: string[] = [];
  const getContext = () => getVisibleContext(deps.prisma, caller, name);
  const author = { authorId: findOwnerId(caller), authorLabel: actor.label };
  const appended = await appendTreeWithRetry(
    deps,
    actor,
    getContext,
    async (current) => {
      const { present, isLost } = await readTreeForUpdate(deps.objects, current.pack);
      const tree = change(present);
      lostPaths = listLostPaths(current.files, present, tree);
      if (isLost && computeVersionSha(listEntries(tree)) === current.sha)
        await restorePack(deps.objects, current.pack, tree);
      return { tree, message, changeSource, runId: null, ...author };
    },
    markCreated,
  );
  if (!appended) return { findings: [], lostPaths: [] };
  const { before, version } = appended;
  const known = new Map(before.files.map(({ path, sha }) => [path, sha]));
  const written = new Set(version.files.filter(({ path, sha }) => known.get(path) !== sha).map(({ path }) => path));
  return { findings: version.findings.filter(({ path }) => written.has(path)), lostPaths };
}

/** Keyed mutex per context, so that many small concurrent changes do not keep retrying. */
const contextMutex = createKeyedMutex();

type NewVersion = Pick<Version, 'message' | 'changeSource' | 'runId' | 'authorId' | 'authorLabel'> & { tree: FileTree };

/**
 * Optimistic concurrency: retries if another replica's change came first.
 * @param next derives the new tree from the current version
 * @returns null if the files are unchanged. @throws AppError 409 `busy`, and errors of `find` and `next`
 */
export async function appendTreeWithRetry(
  deps: Pick<ContextDeps, 'prisma' | 'objects' | 'pool'>,
  actor: Actor,
  find: () => Promise<Context>,
  next: (current: Version) => Promise<NewVersion>,
  markCreated: MarkCreated = async () => {},
): Promise<{ before: Version; version: Pick<Version, 'files' | 'findings'> } | null> {
  const { prisma } = deps;
  const { uid } = await find();
  return contextMutex(uid, async () => {
    for (let tries = 0; tries < ATTEMPTS_MAX; tries++) {
      const context = await find();
      const before = await getCurrentVersion(prisma, context);
      const { tree, ...columns } = await next(before);
      if (computeVersionSha(listEntries(tree)) === before.sha) {
        await markCreated(prisma, before.sha);
        return null;
      }
      const version = { ...(await packVersion(deps, context, tree, before)), ...columns };
      const isDone = await transaction(prisma, async (tx) => {
        if (!(await appendVersion(tx, context, before.number, version))) return false;
        const { changeSource, runId } = columns;
        const details = {
          from: before.sha,
          to: version.sha,
          change_source: changeSource,
          ...(runId && { run_id: runId }),
        };
        await recordContextChange(tx, actor, context, 'updated', details);
        await markCreated(tx, version.sha);
        return true;
      });
      if (isDone) return { before, version };
    }
    throw conflict('busy', 'this context is being changed by another request; try again');
  });
}

/** The fields of a version that derive from its tree. Unchanged files keep their findings. */
async function packVersion(
  deps: Pick<ContextDeps, 'objects' | 'pool'>,
  { uid, workspaceId }: Pick<Context, 'uid' | 'workspaceId'>,
  tree: FileTree,
  before: Pick<Version, 'files' | 'findings'>,
) {
  const files = listEntries(tree);
  const pack = await packTree(deps, buildPackPrefix(workspaceId, uid), tree);
  return { sha: computeVersionSha(files), files, pack, findings: listCredentialFindings(tree, before) };
}

/** Appends a version equal to an earlier one. @throws AppError 404; 409 `busy` */
export async function rollBackContext(
  deps: ContextDeps,
  { caller, actor, markCreated }: Requester,
  name: string,
  { sha, message }: { sha: string; message: string | null },
): Promise<void> {
  await transaction(deps.prisma, async (tx) => {
    const context = await getVisibleContext(tx, caller, name);
    const target = await getVersionBySha(tx, context, sha);
    const current = await getCurrentVersion(tx, context);
    await markCreated(tx, sha);
    if (target.sha === current.sha) return;
    const { files, pack, findings } = target;
    const isDone = await appendVersion(tx, context, current.number, {
      sha: target.sha,
      files,
      pack,
      findings,
      runId: null,
      changeSource: 'rollback',
      message: message ?? `Rolled back to version ${target.number}`,
      authorId: findOwnerId(caller),
      authorLabel: actor.label,
    });
    if (!isDone) throw conflict('busy', 'this context was just changed by another request; try again');
    await recordContextChange(tx, actor, context, 'updated', {
      from: current.sha,
      to: target.sha,
      change_source: 'rollback',
    });
  });
}

function listCredentialFindings(tree: FileTree, before: Pick<Version, 'files' | 'findings'>): CredentialFinding[] {
  const shas = new Map(before.files.map(({ path, sha }) => [path, sha]));
  const findings: CredentialFinding[] = [];
  for (const file of tree) {
    const isKnown = shas.get(file.path) === file.sha;
    // Bounded: 500 files (FILES_MAX) and 100 findings (FINDINGS_MAX).
    findings.push(...(isKnown ? before.findings.filter(({ path }) => path === file.path) : findCredentials(file)));
  }
  return findings.slice(0, FINDINGS_MAX);
}

export const buildPackPrefix = (workspaceId: string, uid: string): string => `${workspaceId}/contexts/${uid}`;

function recordContextChange(
  tx: Db,
  actor: Actor,
  { workspaceId, name }: Pick<Context, 'workspaceId' | 'name'>,
  change: 'created' | 'updated' | 'deleted',
  details: Record<string, unknown>,
): Promise<unknown> {
  return recordChange(tx, actor, `context.${change}`, { workspaceId, id: name }, details);
}
