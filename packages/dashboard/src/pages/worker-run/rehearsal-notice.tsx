import { Link } from 'react-router';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { Notice } from '../../ui/notice';

/** Marks a run as a rehearsal. */
export function RehearsalNotice({ run }: { run: WorkerRun }) {
  if (run.trigger !== 'rehearsal') return null;
  const { parent_run_id: sourceRunId } = run;
  if (sourceRunId === null) {
    return (
      <Notice tone="info" title="Rehearsal: nothing left the sandbox">
        Requests with external effects were refused. It is not counted in statistics, alerts or triggers.
      </Notice>
    );
  }
  return (
    <Notice tone="info" title={`Rehearsal of ${sourceRunId}: nothing left the sandbox`}>
      Writes were answered from the record of <Link to={workerRunPath(sourceRunId)}>that run</Link>. It does not count
      toward statistics, alerts or triggers.
    </Notice>
  );
}
