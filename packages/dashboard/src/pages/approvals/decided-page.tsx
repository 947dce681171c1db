import { Empty } from '../../ui/empty';
import { useApprovals } from './approval-queries';
import { Inbox } from './inbox';

/** Lists the approvals that were decided or have expired. */
export default function DecidedPage() {
  const all = useApprovals();
  return (
    <Inbox
      list={all}
      approvals={all.data?.pages.flat().filter(({ status }) => status !== 'pending')}
      empty={
        <Empty title="Nothing has been decided yet" level={2}>
          <p>Every decision stays here with its reason, until its run is deleted.</p>
        </Empty>
      }
    />
  );
}
