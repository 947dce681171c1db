import { conflict } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Requester } from '@gantry/http';
import { requiresCodeApproval } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { createInputValidator } from '@gantry/program';
import { findOwnerId } from '../access/ownership';
import { requireUsableContexts } from '../contexts/run-contexts';
import { computeVersionSha, listEntries } from '../file-trees/file-tree';
import { checkTriggerInputs } from '../triggers/trigger';
import { replaceTriggers } from '../triggers/trigger-repository';
import { planWebhook, type WebhookPlan } from '../triggers/webhook/webhook-secret';
import { detachChangedSkill } from './agent-definition';
import { describeSkills } from './agent-skills';
import { addFileDependencies } from './code-dependencies';
import { toNamedDefinition } from './definition';
import { requireAllowedExposure } from './exposure';
import { recordWorkerChange } from './record-worker-change';
import { formatSkillWarning, listSkillWarnings } from './skill-warnings';
import { findFreeSlug, toSlug } from './slug';
import { type ChangeSource, insertVersion, type NewVersion } from './version-repository';
import { inspectCode, packCode } from './worker-code';
import type { WorkerDeps } from './worker-deps';
import type { NewWorkerInput } from './worker-input';
import { countWorkers, insertWorker, listTakenSlugs } from './worker-repository';

export interface CreatedWorker {
  /** The slug. */
  id: string;
  /** Secrets of its webhook, for the answer, this once. */
  shown: WebhookPlan['shown'];
  /** Problems that a later run would meet. */
  warnings: string[];
}

const SLUG_ATTEMPTS_MAX = 10;
const WORKERS_MAX = 10_000;

/**
 * The code is kept and looked into first; row, version, triggers, audit entry and event commit together.
 * @throws AppError 400; 409 `id_taken` for an id that was asked for, `too_many_workers`; 503 with no executor to look
 * for run()
 */
export async function createWorker(
  deps: WorkerDeps,
  { caller, actor, markCreated }: Requester,
  input: NewWorkerInput,
  changeSource: ChangeSource,
): Promise<CreatedWorker> {
  const { prisma } = deps;
  const { workspaceId } = caller;
  const { settings, triggers, tree, message } = input;
  const files = listEntries(tree);
  const described = await describeSkills(detachChangedSkill(input.definition, files), tree);
  const definition = await addFileDependencies(deps.bus, described, tree);
  checkTriggerInputs(triggers, createInputValidator(definition.inputs));
  await requireUsableContexts(prisma, caller, definition.contexts);
  const ownerId = findOwnerId(caller);
  await requireAllowedExposure(prisma, { workspaceId, ownerId, visibility: settings.visibility }, ownerId, definition);
  if ((await countWorkers(prisma, workspaceId)) >= WORKERS_MAX) {
    throw conflict('too_many_workers', `a workspace can have at most ${WORKERS_MAX} workers; delete some first`);
  }
  const uid = newId('wrk_');
  const code = await packCode(deps, { workspaceId, uid }, tree);
  const skillWarnings = listSkillWarnings(definition, tree).map(formatSkillWarning);
  const warnings = [...(await inspectCode(deps, definition, code)), ...skillWarnings];
  const version: NewVersion = {
    workerUid: uid,
    number: 1,
    definition,
    files,
    code,
    message,
    changeSource,
    sha: computeVersionSha(files, toNamedDefinition(definition)),
    authorId: ownerId,
    authorLabel: actor.label,
    needsApproval: requiresCodeApproval(caller),
  };
  const wanted = input.id ?? toSlug(settings.name, 'worker');
  for (let tries = 0; tries < SLUG_ATTEMPTS_MAX; tries++) {
    const id = input.id ?? findFreeSlug(wanted, await listTakenSlugs(prisma, workspaceId, wanted), tries);
    const worker = { workspaceId, uid, id };
    const now = deps.now();
    const webhookChange = {
      worker,
      currentWebhook: undefined,
      triggers,
      rotateSecret: false,
      rotateSigningKey: false,
      now,
    };
    const webhook = await planWebhook(deps, webhookChange);
    const row = {
      workspaceId,
      uid,
      id,
      ...settings,
      runner: definition.runner,
      currentVersion: 1,
      ownerId,
      createdAt: now,
      updatedAt: now,
    };
    const isMade = await transaction(prisma, async (tx) => {
      if (!(await insertWorker(tx, row))) return false;
      await insertVersion(tx, workspaceId, version);
      await replaceTriggers(tx, { uid, workspaceId, status: 'active' }, triggers, now, webhook.columns);
      const { name, visibility } = settings;
      await recordWorkerChange(tx, actor, worker, 'created', { name, visibility, sha: version.sha });
      await markCreated(tx, id);
      return true;
    });
    if (isMade) {
      return { id, shown: webhook.shown, warnings };
    }
    if (input.id !== undefined) break;
  }
  throw conflict('id_taken', `id: worker "${wanted}" already exists; choose a different id`);
}
