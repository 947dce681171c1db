import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { roleAtLeast } from '../../accounts/roles';
import { AlertForm, trimmed } from '../../alerts/alert-form';
import { type AlertFields, useAlertChanges, useSendsEmail } from '../../alerts/alert-queries';
import type { Alert } from '../../alerts/alert-words';
import { SigningSecret } from '../../alerts/signing-secret';
import { type Subject, SubjectField } from '../../alerts/subject-field';
import { alertPath, alertsOfPath, paths, workerIdIn } from '../../shell/paths';
import { useMe, useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Panel } from '../../ui/panel';
import { useWorkerName } from '../../workers/worker-name';
import styles from './new-alert-page.module.css';

export default function NewAlertPage() {
  useTitle('New alert');
  const workspace = useWorkspace();
  const [search] = useSearchParams();
  const workerId = workerIdIn(search);
  const [made, setMade] = useState<Alert | null>(null);
  if (made?.secret) {
    return (
      <>
        <PageHead title="The alert is on" />
        <Stack className={styles.made} maw="44rem" gap="md" align="flex-start">
          <SigningSecret secret={made.secret} />
          <Button component={Link} to={alertPath(made.id)}>
            Go to the alert
          </Button>
        </Stack>
      </>
    );
  }
  return (
    <>
      <PageHead
        title="New alert"
        about="The first message arrives with the first event; a test can be sent at any time."
      />
      {workspace && !roleAtLeast(workspace.role, 'admin') ? (
        <Notice tone="info">Admins and owners of {workspace.name} can create alerts.</Notice>
      ) : (
        <Creation key={workerId} workerId={workerId} onMade={setMade} />
      )}
    </>
  );
}

/** @param onCreated gets the secret of a webhook, which is shown only once */
function Creation({ workerId, onMade }: { workerId: string | null; onMade: (alert: Alert) => void }) {
  const { data: me } = useMe();
  const sendsEmail = useSendsEmail();
  const navigate = useNavigate();
  const { create } = useAlertChanges();
  const workerName = useWorkerName(workerId);
  const [chosen, setChosen] = useState<Subject | null>(null);
  const [isTried, setTried] = useState(false);
  const named: Subject = workerId
    ? { kind: 'worker', option: { id: workerId, label: workerName } }
    : { kind: 'workspace', option: null };
  const subject = chosen ?? named;
  const isOpen = subject.kind !== 'workspace' && subject.option === null;

  function submit(fields: AlertFields) {
    setTried(true);
    if (isOpen) return;
    const { kind, option } = subject;
    create.mutate(
      {
        ...trimmed(fields),
        ...(kind === 'worker' && option && { worker_id: option.id }),
        ...(kind === 'automation' && option && { automation_id: option.id }),
      },
      { onSuccess: (alert) => (alert.secret && alert.url ? onMade(alert) : navigate(alertPath(alert.id))) },
    );
  }

  if (!me || sendsEmail === undefined) return <Skeleton height={480} radius={10} />;
  return (
    <Panel title="The alert">
      <AlertForm
        given={{
          on: ['run.failed', 'run.timed_out'],
          url: null,
          email_to: sendsEmail ? me.email : null,
          description: '',
        }}
        isOfAutomation={subject.kind === 'automation'}
        submitLabel="Create alert"
        isBusy={create.isPending}
        error={create.error}
        onSubmit={submit}
        onCancel={() => navigate(workerId ? alertsOfPath(workerId) : paths.alerts)}
      >
        <SubjectField
          subject={subject}
          problem={isTried && isOpen ? `Choose the ${subject.kind}.` : undefined}
          onChange={setChosen}
        />
      </AlertForm>
    </Panel>
  );
}
