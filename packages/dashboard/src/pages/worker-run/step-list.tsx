import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { duration } from '../../ui/format';
import { CheckIcon, CrossIcon, WaitIcon } from '../../ui/icons';
import content from '../../ui/panel-content.module.css';
import { StatusChip, type Tone } from '../../ui/status-chip';
import styles from './step-list.module.css';

type Step = WorkerRun['steps'][number];

const LOOKS: Record<Step['status'], [word: string, tone: Tone, icon: ReactNode]> = {
  pending: ['Waiting', 'timeout', <WaitIcon key="pending" />],
  completed: ['Done', 'success', <CheckIcon key="completed" />],
  failed: ['Failed', 'error', <CrossIcon key="failed" />],
};
const KINDS: Record<Step['kind'], string> = { step: 'Step', sleep: 'Sleep', approve: 'Approval', call: 'Call' };

/** In the order in which the code asked for them. */
export function StepList({ steps }: { steps: Step[] }) {
  return (
    <ol className={styles.steps}>
      {steps.map((step) => {
        const [word, tone, icon] = LOOKS[step.status];
        return (
          <li key={step.ordinal} data-status={step.status}>
            <div>
              <p className={content.what}>{step.run_id ? <Called step={step} runId={step.run_id} /> : step.name}</p>
              <p className={styles.fact}>
                {KINDS[step.kind]}
                {step.finished_at !== null &&
                  ` · ${duration(Date.parse(step.finished_at) - Date.parse(step.started_at))}`}
              </p>
            </div>
            <StatusChip tone={tone} icon={icon}>
              {word}
            </StatusChip>
            {step.error && (
              <p className={styles.error}>
                {step.error.type && <b>{step.error.type}: </b>}
                {step.error.message}
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const Called = ({ step, runId }: { step: Step; runId: string }) => <Link to={workerRunPath(runId)}>{step.name}</Link>;
