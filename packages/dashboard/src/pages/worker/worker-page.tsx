import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { describeSandbox } from '../../runs/describe-sandbox';
import type { Worker } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { workerPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Columns } from '../../ui/columns';
import { Panel } from '../../ui/panel';
import { RunForm } from '../../workers/run-form';
import type { Inputs } from '../../workers/use-sample-inputs';
import { WorkerLayout } from '../../workers/worker-layout';
import { HealthCharts } from './health-charts';
import { LastFailureNotice } from './last-failure-notice';
import { RecentRuns } from './recent-runs';
import styles from './worker-page.module.css';

/** Shows the health of a worker, its recent runs, and a form to run it. */
export default function WorkerPage() {
  return (
    <WorkerLayout actions={(worker) => <PublishButton worker={worker} />}>
      {(worker) => <WorkerOverview key={worker.id} worker={worker} />}
    </WorkerLayout>
  );
}

/** Leads to the automation of a Python worker; agents have none. */
function PublishButton({ worker: { id, runner, status } }: { worker: Worker }) {
  const role = useWorkspace()?.role ?? 'viewer';
  if (runner !== 'python' || status === 'archived' || role === 'viewer') return null;
  return (
    <LinkButton to={workerPath(id, 'workerPublish')} variant="default">
      Publish as a page
    </LinkButton>
  );
}

function WorkerOverview({ worker }: { worker: Worker }) {
  const [reusedInputs, setReusedInputs] = useState<{ inputs: Inputs; count: number } | null>(null);
  function reuse(inputs: Inputs) {
    setReusedInputs((before) => ({ inputs, count: (before?.count ?? 0) + 1 }));
    // On a phone the form is far above the list.
    document.getElementById(RUN_FORM_ID)?.scrollIntoView({ block: 'nearest' });
  }
  return (
    <Columns>
      <Stack gap="lg">
        <LastFailureNotice worker={worker} />
        <HealthCharts worker={worker} />
        <RecentRuns worker={worker} onReuse={reuse} />
      </Stack>
      <div id={RUN_FORM_ID} className={styles.form}>
        <Panel title="Run">
          {worker.description && (
            <Text className="pre-wrap wrap-anywhere" mb="md" fz="sm" c="dimmed">
              {worker.description}
            </Text>
          )}
          <RunForm key={reusedInputs?.count ?? 0} worker={worker} initialInputs={reusedInputs?.inputs ?? null} />
          {worker.last_sandbox && (
            <Text mt="md" className="caption">
              Last run’s sandbox: {describeSandbox(worker.last_sandbox)}
            </Text>
          )}
        </Panel>
      </div>
    </Columns>
  );
}

const RUN_FORM_ID = 'run-form';
