import { actorOf, callerOf, conflict, type Operations, type Principal } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Request, Response } from 'express';
import { recordChange } from '../audit/audit-entry';
import type { Deps } from '../deps';
import type { ApprovalStatus } from '../generated/prisma/client';
import { cursorOf, linkFrom } from '../page-cursor';
import { getRunFor } from '../workers/visible-worker';
import { type ApprovalOfWorker, decidedAlready, requireOpen } from './approval';
import { requireMayDecide, toApiFor } from './approval-access';
import {
  countPendingApprovals,
  findLastApprovalOfRun,
  getApproval,
  listApprovals,
  nextLink,
  readApproval,
} from './approval-repository';
import { decideApproval, type Verdict } from './decide-approval';

export function approvalOperations(deps: Deps): Operations {
  const { prisma } = deps;

  const decideById = (verdict: Verdict) => async (req: Request, res: Response) => {
    const approval = await getApproval(prisma, callerOf(req), String(req.params.approval_id));
    await decide(deps, req, res, approval, verdict);
  };
  const decideByRun = (verdict: Verdict) => async (req: Request, res: Response) => {
    const approval = await getApprovalOfRun(deps, callerOf(req), String(req.params.run_id));
    await decide(deps, req, res, approval, verdict);
  };

  return {
    listApprovals: async (req, res) => {
      const caller = callerOf(req);
      const { limit, offset } = req.query as unknown as { limit: number; offset: number };
      const before = cursorOf(req, 'requested_at');
      const found = await listApprovals(prisma, caller, filterOf(req), { limit: limit + 1, offset, before });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      linkFrom(req, res, last && { createdAt: last.requestedAt, id: last.id }, 'requested_at');
      res.json(await toApiFor(deps, caller, page));
    },
    countApprovals: async (req, res) => {
      res.json({ pending: await countPendingApprovals(prisma, callerOf(req)) });
    },
    getApproval: async (req, res) => {
      const caller = callerOf(req);
      const approval = await getApproval(prisma, caller, String(req.params.approval_id));
      res.json((await toApiFor(deps, caller, [approval]))[0]);
    },
    approve: decideById('approve'),
    reject: decideById('reject'),
    approveRun: decideByRun('approve'),
    rejectRun: decideByRun('reject'),
    renewReviewLink: async (req, res) => {
      const caller = callerOf(req);
      const approval = await getApproval(prisma, caller, String(req.params.approval_id));
      await requireMayDecide(deps, caller, approval);
      requireOpen(approval, deps.now());
      if (approval.linkNumber === null) {
        throw conflict('no_public_links', 'the worker was made without public links: approvals.public_links is false');
      }
      const renewed = await transaction(prisma, async (tx) => {
        const next = await nextLink(tx, approval.id);
        if (!next) return null;
        await recordChange(tx, actorOf(req), {
          workspaceId: caller.workspaceId,
          action: 'approval.link_renewed',
          resource: { type: 'approval', id: approval.id },
          details: { worker_id: approval.workerId, run_id: approval.runId },
        });
        return next;
      });
      if (!renewed) throw decidedAlready(await readApproval(prisma, approval.id));
      res.json((await toApiFor(deps, caller, [renewed]))[0]);
    },
  };
}

async function decide(deps: Deps, req: Request, res: Response, approval: ApprovalOfWorker, verdict: Verdict) {
  const caller = callerOf(req);
  await requireMayDecide(deps, caller, approval);
  const actor = actorOf(req);
  const id = caller.userId ?? caller.tokenId;
  await decideApproval(deps, approval, verdict, req.body ?? {}, { id, label: actor.label ?? id, actor });
  const decided = await getApproval(deps.prisma, caller, approval.id);
  res.json((await toApiFor(deps, caller, [decided]))[0]);
}

/** @throws AppError 404 for the run, 409 for one that never asked */
async function getApprovalOfRun(deps: Deps, caller: Principal, runId: string): Promise<ApprovalOfWorker> {
  const run = await getRunFor(deps, caller, runId);
  const approval = await findLastApprovalOfRun(deps.prisma, caller.workspaceId, runId);
  if (!approval) throw conflict('not_waiting', `this run waits for no approval: it is ${run.status}`);
  return approval;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function filterOf({ query }: Request) {
  const [status, workerId, runId] = [textOf(query.status), textOf(query.worker_id), textOf(query.run_id)];
  return {
    ...(status && { status: status as ApprovalStatus }),
    ...(workerId && { workerId }),
    ...(runId && { runId }),
  };
}
