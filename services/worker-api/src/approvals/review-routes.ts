/** Serves the holder of a review link, signed in or not. */
import { AppError } from '@gantry/errors';
import { buildLinkActor, type OperationCall, type Operations, ok, toApiFields } from '@gantry/http';
import { findPrincipalLabel } from '../accounts/tokens/token-repository';
import { type ApprovalWithWorker, getDeciderLabel, getForm } from './approval';
import type { ApprovalDeps } from './approval-deps';
import { findApprovalAcrossWorkspaces } from './approval-repository';
import { decideApproval, type Verdict } from './decide-approval';
import { callsToApi } from './held-calls';
import { isValidLink, parseApprovalId } from './review-link';

export function createReviewOperations(deps: ApprovalDeps): Operations<'worker'> {
  const toReviewResponse = async (approval: ApprovalWithWorker) =>
    ok(reviewToApi(approval, await findPrincipalLabel(deps.prisma, approval.requestedBy)));
  const createDecideByLinkHandler =
    (verdict: Verdict) =>
    async ({ req, path, body = {} }: OperationCall<'worker', 'approveByLink'>) => {
      const approval = await getApprovalByLink(deps, path.token);
      const { name, ...given } = body;
      const label = `link: ${name?.trim() || 'an unnamed person'}`;
      const actor = { ...buildLinkActor(req, 'link'), label };
      await decideApproval(deps, approval, verdict, given, { id: null, label, actor, caller: null });
      return toReviewResponse(await getApprovalByLink(deps, path.token));
    };
  return {
    getReview: async ({ path }) => toReviewResponse(await getApprovalByLink(deps, path.token)),
    approveByLink: createDecideByLinkHandler('approve'),
    rejectByLink: createDecideByLinkHandler('reject'),
  };
}

/** @throws AppError 404, the same for a token that is wrong, ended, expired or of something that is gone */
async function getApprovalByLink({ prisma, hasher, now }: ApprovalDeps, token: string): Promise<ApprovalWithWorker> {
  const id = parseApprovalId(token);
  const approval = id && (await findApprovalAcrossWorkspaces(prisma, id));
  if (approval && isValidLink(hasher, approval, token) && approval.expiresAt > now()) return approval;
  throw new AppError('not_found', 'not_found', 'this link is incomplete or no longer valid; ask for a new one');
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
    decided_by: getDeciderLabel(approval),
  };
}
