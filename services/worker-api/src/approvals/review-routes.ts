/** Serves the holder of a review link, signed in or not. */
import { AppError } from '@gantry/errors';
import { buildLinkActor, type OperationCall, type Operations, ok, toApiFields } from '@gantry/http';
import { findLabel } from '../accounts/tokens/token-repository';
import { type ApprovalWithWorker, getDecider, getForm } from './approval';
import type { ApprovalDeps } from './approval-deps';
import { findApprovalForLink } from './approval-repository';
import { decideApproval, type Verdict } from './decide-approval';
import { callsToApi } from './held-calls';
import { isValidLink, parseApprovalId } from './review-link';

export function reviewOperations(deps: ApprovalDeps): Operations<'worker'> {
  const toReview = async (approval: ApprovalWithWorker) =>
    ok(reviewToApi(approval, await findLabel(deps.prisma, approval.requestedBy)));
  const decide =
    (verdict: Verdict) =>
    async ({ req, path, body = {} }: OperationCall<'worker', 'approveByLink'>) => {
      const approval = await getByLink(deps, path.token);
      const { name, ...given } = body;
      const label = `link: ${name?.trim() || 'an unnamed person'}`;
      const actor = { ...buildLinkActor(req, 'link'), label };
      await decideApproval(deps, approval, verdict, given, { id: null, label, actor, caller: null });
      return toReview(await getByLink(deps, path.token));
    };
  return {
    getReview: async ({ path }) => toReview(await getByLink(deps, path.token)),
    approveByLink: decide('approve'),
    rejectByLink: decide('reject'),
  };
}

/** @throws AppError 404, the same for a token that is wrong, ended, expired or of something that is gone */
async function getByLink({ prisma, hasher, now }: ApprovalDeps, token: string): Promise<ApprovalWithWorker> {
  const id = parseApprovalId(token);
  const approval = id && (await findApprovalForLink(prisma, id));
  if (approval && isValidLink(hasher, approval, token) && approval.expiresAt > now()) return approval;
  throw new AppError(
    'not_found',
    'not_found',
    'this link does not work: it has ended, or is not whole; ask for another',
  );
}

/** No id that opens anything: a signed-in member finds the approval by its id, and decides under their own name. */
function reviewToApi(approval: ApprovalWithWorker, startedBy: string | null) {
  return {
    approval_id: approval.id,
    ...toApiFields(approval, 'workspaceId', 'status', 'title', 'message', 'data', 'reason'),
    ...toApiFields(approval, 'requestedAt', 'expiresAt', 'decidedAt'),
    form: getForm(approval),
    calls: callsToApi(approval),
    worker_name: approval.worker.name,
    started_by: startedBy,
    decided_by: getDecider(approval),
  };
}
