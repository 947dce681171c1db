import { api } from '../shell/api';
import type { Decision } from './decision-form';

/**
 * Decides as the signed-in member.
 * @param workspaceId the one that was shown, also if another tab has switched
 */
export async function decideApproval(
  approvalId: string,
  workspaceId: string | undefined,
  { verdict, reason, data, calls }: Decision,
): Promise<void> {
  const options = {
    params: { path: { approval_id: approvalId } },
    body: { ...(reason && { reason }), ...(data && { data }) },
    ...(workspaceId && { headers: { 'x-svc-workspace': workspaceId } }),
  };
  if (verdict === 'approve') {
    const body = { ...options.body, ...(calls && { calls }) };
    await api.worker.POST('/api/approvals/{approval_id}/approve', { ...options, body });
  } else {
    await api.worker.POST('/api/approvals/{approval_id}/reject', options);
  }
}
