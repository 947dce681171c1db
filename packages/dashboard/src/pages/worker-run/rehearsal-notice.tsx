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
      <Notice tone="info" title="Rehearsal: no external effects">
        Requests with external effects were blocked. This run doesn’t affect statistics, alerts or triggers.
      </Notice>
    );
  }
  return (
    <Notice tone="info" title={`Rehearsal of ${sourceRunId}: no external effects`}>
      Write requests returned recorded responses from <Link to={workerRunPath(sourceRunId)}>the original run</Link>.
      This run doesn’t affect statistics, alerts or triggers.
    </Notice>
  );
}
