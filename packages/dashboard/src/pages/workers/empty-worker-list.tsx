import { Link } from 'react-router';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { EmptyState } from '../../ui/empty-state';

interface EmptyWorkerListProps {
  canCreate: boolean;
  onArchived: () => void;
}

export function EmptyWorkerList({ canCreate, onArchived }: EmptyWorkerListProps) {
  return (
    <EmptyState title="Create your first worker" level={2}>
      <p>
        A worker is a Python function that runs automatically: on a schedule, on a webhook call, or after another run.
        Each run has its own sandbox, a log and a history. <Link to={paths.create}>Worker or automation?</Link>
      </p>
      {canCreate ? (
        <p>
          <LinkButton to={paths.newWorker}>Start with a template</LinkButton>
        </p>
      ) : (
        <p>Workers appear here once a member creates one.</p>
      )}
      <p>
        <button type="button" className="link-button" onClick={onArchived}>
          View archived workers
        </button>
      </p>
    </EmptyState>
  );
}
