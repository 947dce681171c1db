import { unwrap } from '@gantry/sdk';
import { getWorkerApi } from '../shell/api';
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
  const worker = await getWorkerApi();
  const options = {
    params: { path: { approval_id: approvalId } },
    body: { ...(reason && { reason }), ...(data && { data }) },
    ...(workspaceId && { headers: { 'x-svc-workspace': workspaceId } }),
  };
  await unwrap(
    verdict === 'approve'
      ? worker.POST('/api/approvals/{approval_id}/approve', {
          ...options,
          body: { ...options.body, ...(calls && { calls }) },
        })
      : worker.POST('/api/approvals/{approval_id}/reject', options),
  );
}
