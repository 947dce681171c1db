import { useEffect, useRef, useState } from 'react';
import type { Verdict } from '../../approvals/decision-form';
import type { Approval } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { EmptyState } from '../../ui/empty-state';
import { Notice } from '../../ui/notice';
import { ApprovalInbox } from './approval-inbox';
import { useApprovals } from './approval-queries';
import styles from './approvals-page.module.css';

/** Lists the pending approvals of this workspace, with one of them open. */
export default function ApprovalsPage() {
  const pendingApprovals = useApprovals('pending');
  const [announcement, setAnnouncement] = useState<string | null>(null);
  const announcementBox = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone.
  useEffect(() => {
    if (announcement) announcementBox.current?.focus();
  }, [announcement]);

  const invalidateApprovals = useInvalidateQueries((workspaceId) => ['approvals', workspaceId]);

  async function handleDecided(approval: Approval, verdict: Verdict) {
    await invalidateApprovals();
    const outcome = verdict === 'reject' ? 'Rejected' : approval.calls ? 'Decided' : 'Approved';
    setAnnouncement(`${outcome}: ${approval.title}`);
  }

  return (
    <ApprovalInbox
      list={pendingApprovals}
      approvals={pendingApprovals.data}
      onDecided={handleDecided}
      onOutdated={invalidateApprovals}
      announcement={
        <div ref={announcementBox} className={styles.news} style={{ outline: 'none' }} role="status" tabIndex={-1}>
          {announcement && <Notice tone="info">{announcement}</Notice>}
        </div>
      }
      empty={
        <EmptyState title="No pending approvals" level={2}>
          <p>
            Approvals appear here when a run calls <code>context.approve()</code> or its worker requires approval for
            every run.
          </p>
        </EmptyState>
      }
    />
  );
}
