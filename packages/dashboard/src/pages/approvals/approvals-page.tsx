import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Verdict } from '../../approvals/decision-form';
import type { Approval } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { Empty } from '../../ui/empty';
import { Notice } from '../../ui/notice';
import { useApprovals } from './approval-queries';
import styles from './approvals-page.module.css';
import { Inbox } from './inbox';

/** Lists the pending approvals of this workspace, with one of them open. */
export default function ApprovalsPage() {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const waiting = useApprovals('pending');
  const [said, setSaid] = useState<string | null>(null);
  const news = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone.
  useEffect(() => {
    if (said) news.current?.focus();
  }, [said]);

  const refresh = () => queryClient.invalidateQueries({ queryKey: ['approvals', workspace?.id] });

  async function decided(approval: Approval, verdict: Verdict) {
    await refresh();
    const outcome = verdict === 'reject' ? 'Rejected' : approval.calls ? 'Decided' : 'Approved';
    setSaid(`${outcome}: ${approval.title}`);
  }

  return (
    <Inbox
      list={waiting}
      approvals={waiting.data?.pages.flat()}
      onDecided={decided}
      onOvertaken={refresh}
      news={
        <div ref={news} className={styles.news} role="status" tabIndex={-1}>
          {said && <Notice tone="info">{said}</Notice>}
        </div>
      }
      empty={
        <Empty title="Nothing waits for a decision" level={2}>
          <p>
            A run asks here when its code calls <code>context.approve()</code>, or before it starts where its worker
            wants every run approved.
          </p>
        </Empty>
      }
    />
  );
}
