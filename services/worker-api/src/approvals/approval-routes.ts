import { conflict } from '@gantry/errors';
import { buildNextHeaders, type OperationCall, type Operations, ok, parsePageCursor } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import { getVisibleRun } from '../workers/visible-worker';
import { type ApprovalWithWorker, createAlreadyDecidedError, requirePendingApproval } from './approval';
import { approvalsToApi, assertCanDecide } from './approval-access';
import type { ApprovalDeps } from './approval-deps';
import {
  countPendingApprovals,
  findLastRunApproval,
  getApproval,
  getApprovalById,
  listApprovals,
  renewReviewLink,
} from './approval-repository';
import { buildDecider, decideApproval, type Verdict } from './decide-approval';
import { callsToApi, findStoredCalls } from './held-calls';
import { loadInputSchemas } from './tool-schema';

export function createApprovalOperations(deps: ApprovalDeps): Operations<'worker'> {
  const { prisma } = deps;

  const createDecideByIdHandler = (verdict: Verdict) => async (call: OperationCall<'worker', 'approve'>) =>
    handleDecision(deps, call, await getApproval(prisma, call.caller, call.path.approval_id), verdict);
  const createDecideByRunHandler = (verdict: Verdict) => async (call: OperationCall<'worker', 'approveRun'>) =>
    handleDecision(deps, call, await getRunApproval(deps, call.caller, call.path.run_id), verdict);

  return {
    listApprovals: async ({ caller, query, req }) => {
      const { limit } = query;
      const before = parsePageCursor(query, 'requested_at');
      const found = await listApprovals(prisma, caller, { ...query, limit: limit + 1 }, before);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const next = last && { createdAt: last.requestedAt, id: last.id };
      return ok(await approvalsToApi(deps, caller, page), buildNextHeaders(req, next, 'requested_at'));
    },
    countApprovals: async ({ caller }) => ok({ pending: await countPendingApprovals(prisma, caller) }),
    getApproval: async ({ caller, path }) => {
      const approval = await getApproval(prisma, caller, path.approval_id);
      const [shown] = await approvalsToApi(deps, caller, [approval]);
      return ok(shown?.permissions.decide ? { ...shown, calls: await loadCallsWithSchemas(deps, approval) } : shown);
    },
    approve: createDecideByIdHandler('approve'),
    reject: createDecideByIdHandler('reject'),
    approveRun: createDecideByRunHandler('approve'),
    rejectRun: createDecideByRunHandler('reject'),
    renewReviewLink: async ({ caller, actor, path }) => {
      const approval = await getApproval(prisma, caller, path.approval_id);
      await assertCanDecide(deps, caller, approval);
      requirePendingApproval(approval, deps.now());
      if (approval.linkNumber === null) {
        const reason = approval.candidateId
          ? 'only those who can change the worker can promote a version'
          : 'public links are disabled for this worker: approvals.public_links is false';
        throw conflict('no_public_links', reason);
      }
      const renewed = await transaction(prisma, async (tx) => {
        const next = await renewReviewLink(tx, approval.id);
        if (!next) return null;
        const details = { worker_id: approval.workerId, run_id: approval.runId };
        await recordChange(tx, actor, 'approval.link_renewed', approval, details);
        return next;
      });
      if (!renewed) throw createAlreadyDecidedError(await getApprovalById(prisma, approval.id));
      return ok((await approvalsToApi(deps, caller, [renewed]))[0]);
    },
  };
}

async function loadCallsWithSchemas(deps: ApprovalDeps, approval: ApprovalWithWorker) {
  const calls = findStoredCalls(approval);
  if (!calls) return null;
  const run = await deps.engine.get(approval.workspaceId, approval.runId);
  return callsToApi(approval, await loadInputSchemas(deps, run, calls));
}

async function handleDecision(
  deps: ApprovalDeps,
  { caller, actor, body = {} }: OperationCall<'worker', 'approve' | 'approveRun'>,
  approval: ApprovalWithWorker,
  verdict: Verdict,
) {
  await assertCanDecide(deps, caller, approval);
  await decideApproval(deps, approval, verdict, body, buildDecider({ caller, actor }));
  const decided = await getApproval(deps.prisma, caller, approval.id);
  return ok((await approvalsToApi(deps, caller, [decided]))[0]);
}

/** @throws AppError 404 for the run, 409 for one that never asked */
async function getRunApproval(deps: ApprovalDeps, caller: Principal, runId: string): Promise<ApprovalWithWorker> {
  const run = await getVisibleRun(deps, caller, runId);
  const approval = await findLastRunApproval(deps.prisma, caller.workspaceId, runId);
  if (!approval) throw conflict('not_waiting', `this run is not waiting for approval: its status is ${run.status}`);
  return approval;
}
