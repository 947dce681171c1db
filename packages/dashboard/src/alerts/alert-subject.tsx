import { Link } from 'react-router';
import { useAutomationName } from '../automations/use-automation-name';
import { automationPath, workerPath } from '../shell/paths';
import { useWorkerName } from '../workers/use-worker-name';
import type { Alert } from './alert-labels';

/** Link to the worker or automation whose runs the alert reports. */
export function AlertSubject({ alert: { worker_id, automation_id } }: { alert: Alert }) {
  const worker = useWorkerName(worker_id);
  const automation = useAutomationName(automation_id);
  if (worker_id) return <Link to={workerPath(worker_id)}>{worker}</Link>;
  if (automation_id) return <Link to={automationPath(automation_id)}>{automation ?? 'An automation'}</Link>;
  return 'All runs in the workspace';
}
