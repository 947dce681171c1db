/** A run of code that is still being written: of its worker, with its secrets and limits, and without a version. */
import type { Requester } from '@gantry/http';
import { requiresCodeApproval } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { requireUsableContexts } from '../contexts/run-contexts';
import { retainPackForRun } from '../file-trees/tree-pack';
import { type DraftInput, resolveDraft } from '../workers/draft';
import { requireNotArchived } from '../workers/edit-worker';
import { requireAllowedExposure } from '../workers/exposure';
import { inheritScope } from '../workers/inherit-scope';
import { isApprovalStillNeeded } from '../workers/version-approval';
import { inspectCode, packCode } from '../workers/worker-code';
import { requireEntrypoint } from '../workers/worker-input';
import type { WorkerWithTriggers } from '../workers/worker-repository';
import type { RequestOrigin } from './requested-run';
import type { RunDeps } from './run-deps';
import { toRunnable } from './runnable';
import { type StartRunRequest, startRun } from './start-run';

export interface DraftTestRequest {
  draft: DraftInput;
  inputs: Record<string, unknown>;
  /** Time to wait for its end. */
  waitMs: number;
  origin: RequestOrigin & Pick<StartRunRequest, 'idempotencyKey'>;
}

/**
 * Run, audit entry and the mark that keeps its code commit together.
 * @throws AppError as saving the draft and running the worker would
 */
export async function testDraft(
  deps: RunDeps,
  { caller, actor }: Pick<Requester, 'caller' | 'actor'>,
  worker: WorkerWithTriggers,
  { draft, inputs, waitMs, origin }: DraftTestRequest,
): Promise<Run> {
  requireNotArchived(worker);
  const { definition, tree, base, sha } = await resolveDraft(deps, worker, draft);
  requireEntrypoint(definition, tree);
  await requireUsableContexts(deps.prisma, caller, definition.contexts, base?.definition.contexts);
  await requireAllowedExposure(deps.prisma, worker, findOwnerId(caller), definition);
  const code = await packCode(deps, worker, tree);
  await inspectCode(deps, definition, code);
  const { workspaceId, uid, id } = worker;
  const needsApproval =
    requiresCodeApproval(caller) || (base !== null && (await isApprovalStillNeeded(deps.prisma, uid, base)));
  const onlyWorkers = base && inheritScope(base, { code, isUnread: needsApproval });
  const run = await transaction(deps.pool, async (tx) => {
    const started = await startRun(deps, {
      ...origin,
      worker,
      inputs,
      tx,
      trigger: 'test',
      draft: toRunnable(definition, code, { sha, needsApproval, onlyWorkers }),
    });
    await retainPackForRun(tx, code, started.id);
    await recordChange(tx, actor, 'worker.tested', { workspaceId, id }, { run_id: started.id, sha });
    return started;
  });
  return deps.engine.waitForEnd(run, waitMs);
}
