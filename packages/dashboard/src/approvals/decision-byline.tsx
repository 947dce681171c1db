import type { Approval } from '../shell/api';
import { Timestamp } from '../ui/timestamp';
import { formatDecider } from './format-decider';

/** Shows who decided, and when. */
export function DecisionByline({ approval }: { approval: Approval }) {
  const { decided_by_label, decided_by, decided_at, status } = approval;
  const word = { approved: 'Approved', rejected: 'Rejected', expired: 'Expired', pending: '' }[status];
  return (
    <>
      {word}
      {decided_by && ` by ${formatDecider(decided_by_label ?? decided_by)}`}
      {decided_at && (
        <>
          {' '}
          <Timestamp at={Date.parse(decided_at)} />
        </>
      )}
    </>
  );
}
