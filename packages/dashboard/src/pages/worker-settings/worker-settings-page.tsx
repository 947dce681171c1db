import type { Worker } from '../../shell/api';
import { WorkerFrame } from '../../workers/worker-frame';
import { AboutForm } from './about-form';
import { ApprovalsForm } from './approvals-form';
import { ExposeForm } from './expose-form';
import { FailureForm } from './failure-form';
import { InBodyForm } from './in-body-form';
import { ItemsForm } from './items-form';
import { LimitsForm } from './limits-form';
import { ModelForm } from './model-form';
import { NeedsForm } from './needs-form';
import { NetworkForm } from './network-form';
import { PackagesForm } from './packages-form';
import { ResultForm } from './result-form';
import { RetryForm } from './retry-form';
import styles from './settings-form.module.css';
import { TakeAway } from './take-away';
import { ToolsForm } from './tools-form';
import { VisibilityPanel } from './visibility-panel';

/** A worker's inputs and outputs, limits, needs and visibility; its code is under Code. */
export default function WorkerSettingsPage() {
  return (
    <WorkerFrame tab="Settings">
      {(worker) => (
        // What somebody else has saved is shown; what is typed here is then typed again.
        <Settings key={`${worker.id} ${worker.version} ${worker.updated_at}`} worker={worker} />
      )}
    </WorkerFrame>
  );
}

const Settings = ({ worker }: { worker: Worker }) => (
  <div className={styles.panels}>
    <AboutForm worker={worker} />
    {worker.runner === 'agent' && (
      <>
        <ModelForm worker={worker} />
        <ToolsForm worker={worker} />
      </>
    )}
    <ItemsForm worker={worker} kind="inputs" />
    {worker.runner === 'agent' && <ResultForm worker={worker} />}
    <ItemsForm worker={worker} kind="outputs" />
    {worker.runner === 'python' && <PackagesForm worker={worker} />}
    <LimitsForm worker={worker} />
    <RetryForm worker={worker} />
    <FailureForm worker={worker} />
    <ApprovalsForm worker={worker} />
    <NeedsForm worker={worker} />
    <ExposeForm worker={worker} />
    <InBodyForm worker={worker} />
    <NetworkForm worker={worker} />
    <VisibilityPanel worker={worker} />
    <TakeAway worker={worker} />
  </div>
);
