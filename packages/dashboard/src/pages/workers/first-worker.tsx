import { Link } from 'react-router';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { EmptyState } from '../../ui/empty-state';

interface FirstWorkerProps {
  canCreate: boolean;
  onArchived: () => void;
}

export function FirstWorker({ canCreate, onArchived }: FirstWorkerProps) {
  return (
    <EmptyState title="Create your first worker" level={2}>
      <p>
        A worker is a Python function that runs by itself: on a schedule, when a webhook is called, or when another run
        ends. Each run has its own sandbox, a log and a history. <Link to={paths.create}>Worker or automation?</Link>
      </p>
      {canCreate ? (
        <p>
          <LinkButton to={paths.newWorker}>Begin with a template</LinkButton>
        </p>
      ) : (
        <p>Once a member creates a worker, its runs are shown here.</p>
      )}
      <p>
        <button type="button" className="link-button" onClick={onArchived}>
          See archived workers
        </button>
      </p>
    </EmptyState>
  );
}
