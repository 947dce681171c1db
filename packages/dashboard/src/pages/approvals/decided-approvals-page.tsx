import { EmptyState } from '../../ui/empty-state';
import { ApprovalInbox } from './approval-inbox';
import { useApprovals } from './approval-queries';

/** Lists the approvals that were decided or have expired. */
export default function DecidedApprovalsPage() {
  const all = useApprovals();
  return (
    <ApprovalInbox
      list={all}
      approvals={all.data?.filter(({ status }) => status !== 'pending')}
      empty={
        <EmptyState title="No decisions yet" level={2}>
          <p>Decisions and their reasons appear here. Each decision is kept until its run is deleted.</p>
        </EmptyState>
      }
    />
  );
}
