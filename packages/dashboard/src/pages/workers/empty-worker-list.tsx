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
        A worker is a Python function that runs automatically: on a schedule, when a webhook is called, or after another
        run. Each run gets its own sandbox, log and history.{' '}
        <Link to={paths.create}>Compare workers and automations</Link>
      </p>
      {canCreate ? (
        <p>
          <LinkButton to={paths.newWorker}>Start from a template</LinkButton>
        </p>
      ) : (
        <p>Workers created by members appear here.</p>
      )}
      <p>
        <button type="button" className="link-button" onClick={onArchived}>
          View archived workers
        </button>
      </p>
    </EmptyState>
  );
}
