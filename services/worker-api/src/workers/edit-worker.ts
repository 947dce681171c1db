/** Changes of a worker: of what it is called, what starts it, how it runs and what its files are. */
import { isDeepStrictEqual } from 'node:util';
import { conflict } from '@gantry/errors';
import type { Requester } from '@gantry/http';
import { getTokenScope, intersectScopes, requiresCodeApproval } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { createInputValidator } from '@gantry/program';
import { assertCanManage, findOwnerId } from '../access/ownership';
import { requireUsableContexts } from '../contexts/run-contexts';
import {
  applyFileEdits,
  computeVersionSha,
  type FileTree,
  formatLostFiles,
  listEntries,
  listLostPaths,
} from '../file-trees/file-tree';
import { createKeyedMutex } from '../file-trees/keyed-mutex';
import { readTree, readTreeForUpdate, restorePack } from '../file-trees/tree-pack';
import type { Prisma } from '../generated/prisma/client';
import { checkTriggerInputs, listNonCronTriggers } from '../triggers/trigger';
import { replaceTriggers, updateWebhook } from '../triggers/trigger-repository';
import { planWebhook, type WebhookPlan } from '../triggers/webhook/webhook-secret';
import { detachChangedSkill } from './agent-definition';
import { describeSkills } from './agent-skills';
import { addFileDependencies, declaresPackages } from './code-dependencies';
import {
  type Definition,
  type DefinitionInput,
  mergeDefinition,
  parseDefinition,
  toNamedDefinition,
} from './definition';
import { requireAllowedExposure } from './exposure';
import { inheritScope } from './inherit-scope';
import { recordWorkerChange } from './record-worker-change';
import { formatSkillWarning, listSkillWarnings } from './skill-warnings';
import { isApprovalStillNeeded } from './version-approval';
import { type ChangeSource, getCurrentVersion, insertVersion, type Version } from './version-repository';
import type { CodeDeps } from './worker-code';
import { inspectCode, packCode } from './worker-code';
import type { WorkerDeps } from './worker-deps';
import { rejectManifests, requireEntrypoint, type WorkerChange } from './worker-input';
import { getVisibleWorker, lockVisibleWorker, type WorkerWithTriggers } from './worker-repository';

export interface EditedWorker {
  /** Secrets of its webhook that are new, for the answer, this once. */
  shown: WebhookPlan['shown'];
  warnings: string[];
}

/** Retries of an edit that lost against one by another replica. */
const ATTEMPTS_MAX = 10;
const editMutex = createKeyedMutex();

export interface WorkerEdit {
  change: WorkerChange;
  changeSource: ChangeSource;
  /** Instead of the present definition and files with changes: all of both. */
  replacement?: { definition: Definition; tree: FileTree };
}

/**
 * A new version where definition or files come to be others; row, version, triggers, audit entry and event commit
 * together.
 * @throws AppError 400, 403, 404; 409 `archived`, or `not_current` where the change was made from another version
 */
export async function editWorker(
  deps: WorkerDeps,
  requester: Requester,
  id: string,
  edit: WorkerEdit,
): Promise<EditedWorker> {
  return editMutex(`${requester.caller.workspaceId} ${id}`, async () => {
    for (let tries = 0; tries < ATTEMPTS_MAX; tries++) {
      const edited = await tryEditWorker(deps, requester, id, edit);
      if (edited) {
        return edited;
      }
    }
    throw conflict('busy', 'this worker is being changed by another person; try again');
  });
}

/** Null where the version that the edit is based on is not the current one any more. */
async function tryEditWorker(
  deps: WorkerDeps,
  { caller, actor }: Requester,
  id: string,
  edit: WorkerEdit,
): Promise<EditedWorker | null> {
  const { change, changeSource } = edit;
  const before = await getVisibleWorker(deps.prisma, caller, id);
  requireNotArchived(before);
  if (change.settings.visibility !== undefined && change.settings.visibility !== before.visibility) {
    assertCanManage(caller, before, 'worker');
  }
  const current = await getCurrentVersion(deps.prisma, before);
  if (change.baseSha !== null && change.baseSha !== current.sha) {
    throw conflict('not_current', `base_sha: the current version is ${current.sha}; review it and try again`);
  }
  const next = await buildNextVersion(deps, before, current, edit);
  await requireUsableContexts(deps.prisma, caller, next.definition.contexts, current.definition.contexts);
  const isNew = next.sha !== current.sha;
  const { visibility = before.visibility } = change.settings;
  if (isNew || visibility !== before.visibility) {
    await requireAllowedExposure(deps.prisma, { ...before, visibility }, findOwnerId(caller), next.definition);
  }
  const isOfAgent = requiresCodeApproval(caller);
  const needsApproval =
    isOfAgent || (!edit.replacement && (await isApprovalStillNeeded(deps.prisma, before.uid, current)));
  const inputs = createInputValidator(next.definition.inputs);
  if (change.triggers) checkTriggerInputs(change.triggers, inputs);
  const { rotateSecret, rotateSigningKey } = change;
  const triggers = mergeTriggers(before, change);
  const now = deps.now();
  const currentWebhook = before.triggers.find(({ type }) => type === 'webhook');
  const webhook = await planWebhook(deps, {
    worker: before,
    currentWebhook,
    triggers,
    rotateSecret,
    rotateSigningKey,
    now,
  });
  const fields = listChangedFields(change);
  if (!isNew && !fields.length) return { shown: {}, warnings: [] };

  const isDone = await transaction(deps.prisma, async (tx) => {
    const worker = await lockVisibleWorker(tx, caller, id);
    if (worker.updatedAt.getTime() !== before.updatedAt.getTime()) return false;
    const { settings, evaluateOnSave } = change;
    const data: Prisma.WorkerUpdateInput = { ...settings, updatedAt: computeUpdatedAt(worker, now) };
    if (evaluateOnSave !== undefined) data.evaluateOnSave = evaluateOnSave;
    const number = isNew ? await getNextVersionNumber(tx, worker) : null;
    if (number !== null) {
      const author = { authorId: findOwnerId(caller), authorLabel: actor.label };
      const { definition, files, code, sha } = next;
      const inherited = inheritScope(current, { code, isUnread: needsApproval });
      const onlyWorkers = intersectScopes(getTokenScope(caller, 'workers'), inherited);
      const version = { workerUid: worker.uid, number, definition, files, code, sha, onlyWorkers, needsApproval };
      await insertVersion(tx, worker.workspaceId, { ...version, ...author, message: change.message, changeSource });
      Object.assign(data, { currentVersion: number, runner: definition.runner });
    }
    const edited = await tx.worker.update({ where: { uid: worker.uid }, data });
    if (triggers) await replaceTriggers(tx, worker, triggers, now, webhook.columns);
    else if (rotateSecret || rotateSigningKey) await updateWebhook(tx, worker, webhook.columns);
    await recordWorkerChange(tx, actor, edited, 'updated', {
      fields,
      ...(number !== null && { version: number, from: current.sha, to: next.sha, change_source: changeSource }),
    });
    return true;
  });
  if (!isDone) return null;
  return { shown: webhook.shown, warnings: [...next.warnings, ...listScheduleWarnings(before, change, inputs)] };
}

/** Returns the new triggers of the worker; null: they stay. */
function mergeTriggers(before: WorkerWithTriggers, { triggers, keepsOtherTriggers }: WorkerChange) {
  if (!triggers || !keepsOtherTriggers) return triggers;
  return [...listNonCronTriggers(before.triggers), ...triggers];
}

export type NextVersion = Pick<Version, 'definition' | 'files' | 'code' | 'sha'> & { warnings: string[] };

/** The version that a change results in. Unchanged code is neither packed nor inspected again. */
export async function buildNextVersion(
  deps: CodeDeps,
  worker: WorkerWithTriggers,
  current: Version,
  { change, replacement }: { change: Pick<WorkerChange, 'definition' | 'files'> } & Pick<WorkerEdit, 'replacement'>,
): Promise<NextVersion> {
  const { tree, isLost, lostPaths } = replacement
    ? { tree: replacement.tree, isLost: false, lostPaths: [] }
    : await applyFileChanges(deps, current, change);
  const files = tree ? listEntries(tree) : current.files;
  const wanted = replacement?.definition ?? applyDefinitionChange(current.definition, change.definition);
  const areSkillsKnown = !tree && isDeepStrictEqual(wanted.skills, current.definition.skills);
  const skillTree =
    areSkillsKnown || !wanted.skills.length ? null : (tree ?? (await readTree(deps.objects, current.code)));
  const named = skillTree ? await describeSkills(wanted, skillTree) : wanted;
  const definition = await resolvePackages(deps, current, { definition: detachChangedSkill(named, files), tree });
  const sha = computeVersionSha(files, toNamedDefinition(definition));
  const sameFiles = JSON.stringify(files) === JSON.stringify(current.files);
  if (tree && isLost && sameFiles) await restorePack(deps.objects, current.code, tree);
  if (sha === current.sha) return { definition: current.definition, files, code: current.code, sha, warnings: [] };
  requireEntrypoint(definition, files);
  const code = tree && !sameFiles ? await packCode(deps, worker, tree) : current.code;
  const sameInputs = JSON.stringify(definition.inputs) === JSON.stringify(current.definition.inputs);
  const isKnown = sameFiles && sameInputs && definition.entrypoint === current.definition.entrypoint;
  const codeWarnings = isKnown ? [] : await inspectCode(deps, definition, code);
  const skillWarnings = listSkillWarnings(definition, tree ?? skillTree ?? []).map(formatSkillWarning);
  return { definition, files, code, sha, warnings: [...formatLostFiles(lostPaths), ...codeWarnings, ...skillWarnings] };
}

/** Reads the files that may declare packages only where they, or what is read, may have changed. */
async function resolvePackages(
  { bus, objects }: CodeDeps,
  current: Version,
  { definition, tree }: { definition: Definition; tree: FileTree | null },
): Promise<Definition> {
  const isKnown = !tree && definition.entrypoint === current.definition.entrypoint;
  if (isKnown && !declaresPackages(definition) && !declaresPackages(current.definition)) {
    const { python_dependencies, dependencies_source } = current.definition;
    return { ...definition, python_dependencies, dependencies_source };
  }
  if (declaresPackages(definition)) return definition;
  return addFileDependencies(bus, definition, tree ?? (await readTree(objects, current.code)));
}

export function applyDefinitionChange(present: Definition, change: DefinitionInput): Definition {
  return Object.keys(change).length ? parseDefinition(mergeDefinition(present, change)) : present;
}

async function applyFileChanges(
  deps: Pick<WorkerDeps, 'objects'>,
  current: Version,
  { files }: Pick<WorkerChange, 'files'>,
): Promise<{ tree: FileTree | null; isLost: boolean; lostPaths: string[] }> {
  if (!files.length) return { tree: null, isLost: false, lostPaths: [] };
  rejectManifests(files);
  const { present, isLost } = await readTreeForUpdate(deps.objects, current.code);
  const tree = applyFileEdits(present, files);
  return { tree, isLost, lostPaths: listLostPaths(current.files, present, tree) };
}

export function requireNotArchived({ status }: Pick<WorkerWithTriggers, 'status'>): void {
  if (status === 'archived') throw conflict('archived', 'this worker is archived; restore it first');
}

/** The highest + 1, for a rollback may have made the current one. */
export async function getNextVersionNumber(tx: Prisma.TransactionClient, { uid }: Pick<WorkerWithTriggers, 'uid'>) {
  const { _max } = await tx.workerVersion.aggregate({ where: { workerUid: uid }, _max: { number: true } });
  return (_max.number ?? 0) + 1;
}

/** Each change has a moment of its own, since edits tell by it whether they were first. */
export const computeUpdatedAt = ({ updatedAt }: Pick<WorkerWithTriggers, 'updatedAt'>, now: Date): Date =>
  new Date(Math.max(now.getTime(), updatedAt.getTime() + 1));

function listChangedFields(change: WorkerChange) {
  const { settings, evaluateOnSave, triggers, definition, files, rotateSecret, rotateSigningKey } = change;
  return [
    ...Object.keys(settings),
    ...(evaluateOnSave === undefined ? [] : ['evaluate_on_save']),
    ...(triggers ? ['triggers'] : []),
    ...Object.keys(definition),
    ...(files.length ? ['files'] : []),
    ...(rotateSecret ? ['webhook_secret'] : []),
    ...(rotateSigningKey ? ['webhook_signing_key'] : []),
  ];
}

/** A schedule that stays while the inputs change may come to fail. */
function listScheduleWarnings(
  { triggers }: WorkerWithTriggers,
  change: WorkerChange,
  inputs: ReturnType<typeof createInputValidator>,
): string[] {
  const cron = change.triggers ? undefined : triggers.find(({ type }) => type === 'cron');
  const given = (cron?.inputs ?? {}) as Record<string, unknown>;
  return cron
    ? inputs.listProblems(given).map(({ path, message }) => `scheduled runs will fail: ${path} ${message}`)
    : [];
}
