import { findPendingApproval } from '../approvals/approval-repository';
import { buildReviewUrl } from '../approvals/review-link';
import type { AlertDeps } from './alert-deps';
import type { AlertPayload } from './alert-payload';

/** Adds the review link to an alert about a pending approval that has one. @param body JSON of an alert */
export async function addReviewLink(
  { prisma, hasher, dashboardUrl, now }: Pick<AlertDeps, 'prisma' | 'hasher' | 'dashboardUrl' | 'now'>,
  body: string,
): Promise<string> {
  const payload: AlertPayload = JSON.parse(body);
  const told = payload.data.approval;
  if (payload.type !== 'approval.requested' || !told) return body;
  const approval = await findPendingApproval(prisma, payload.data.workspace_id, told.id, now());
  const url = approval && buildReviewUrl(hasher, dashboardUrl, approval);
  if (!url) return body;
  return JSON.stringify({ ...payload, data: { ...payload.data, approval: { ...told, review_url: url } } });
}
