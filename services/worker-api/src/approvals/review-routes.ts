/** Serves the holder of a review link, signed in or not. */
import { AppError, actorBy, apiFields, type CallOf, type Operations, ok } from '@gantry/http';
import { findLabel } from '../accounts/tokens/token-repository';
import { type ApprovalOfWorker, deciderOf, formOf } from './approval';
import type { ApprovalDeps } from './approval-deps';
import { findApprovalForLink } from './approval-repository';
import { decideApproval, type Verdict } from './decide-approval';
import { callsToApi } from './held-calls';
import { approvalIdIn, isLinkOf } from './review-link';

export function reviewOperations(deps: ApprovalDeps): Operations<'worker'> {
  const shown = async (approval: ApprovalOfWorker) =>
    ok(reviewToApi(approval, await findLabel(deps.prisma, approval.requestedBy)));
  const decide =
    (verdict: Verdict) =>
    async ({ req, path, body = {} }: CallOf<'worker', 'approveByLink'>) => {
      const approval = await getByLink(deps, path.token);
      const { name, ...given } = body;
      const label = `link: ${name?.trim() || 'somebody without a name'}`;
      const actor = { ...actorBy(req, 'link'), label };
      await decideApproval(deps, approval, verdict, given, { id: null, label, actor, isPerson: false });
      return shown(await getByLink(deps, path.token));
    };
  return {
    getReview: async ({ path }) => shown(await getByLink(deps, path.token)),
    approveByLink: decide('approve'),
    rejectByLink: decide('reject'),
  };
}

/** @throws AppError 404, the same for a token that is wrong, ended, expired or of something that is gone */
async function getByLink({ prisma, hasher, now }: ApprovalDeps, token: string): Promise<ApprovalOfWorker> {
  const id = approvalIdIn(token);
  const approval = id && (await findApprovalForLink(prisma, id));
  if (approval && isLinkOf(hasher, approval, token) && approval.expiresAt > now()) return approval;
  throw new AppError(
    'not_found',
    'not_found',
    'this link does not work: it has ended, or is not whole; ask for another',
  );
}

/** No id that opens anything: a signed-in member finds the approval by its id, and decides under their own name. */
function reviewToApi(approval: ApprovalOfWorker, startedBy: string | null) {
  return {
    approval_id: approval.id,
    ...apiFields(approval, 'workspaceId', 'status', 'title', 'message', 'data', 'reason'),
    ...apiFields(approval, 'requestedAt', 'expiresAt', 'decidedAt'),
    form: formOf(approval),
    calls: callsToApi(approval),
    worker_name: approval.worker.name,
    started_by: startedBy,
    decided_by: deciderOf(approval),
  };
}
