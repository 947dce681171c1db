import { Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { AlertForm, normalizeAlertFields } from '../../alerts/alert-form';
import type { Alert } from '../../alerts/alert-labels';
import { type AlertFields, useAlertMutations, useIsEmailEnabled } from '../../alerts/alert-queries';
import { SigningSecretNotice } from '../../alerts/signing-secret-notice';
import { type Subject, SubjectField } from '../../alerts/subject-field';
import { LinkButton } from '../../shell/link-button';
import { alertPath, alertsPath, getWorkerIdParam, paths } from '../../shell/paths';
import { useMe, useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { useWorkerName } from '../../workers/use-worker-name';

export default function NewAlertPage() {
  useTitle('New alert');
  const workspace = useWorkspace();
  const [search] = useSearchParams();
  const workerId = getWorkerIdParam(search);
  const [createdAlert, setCreatedAlert] = useState<Alert | null>(null);
  if (createdAlert?.secret) {
    return (
      <>
        <PageHeader title="Alert created" />
        <Stack maw="44rem" gap="md">
          <SigningSecretNotice secret={createdAlert.secret} />
          <LinkButton to={alertPath(createdAlert.id)} w="fit-content">
            View alert
          </LinkButton>
        </Stack>
      </>
    );
  }
  return (
    <>
      <PageHeader
        title="New alert"
        about="You’ll be notified when a selected event occurs. You can send a test at any time."
      />
      {workspace && !hasRoleAtLeast(workspace.role, 'admin') ? (
        <Notice tone="info">Only admins and owners of {workspace.name} can create alerts.</Notice>
      ) : (
        <NewAlertForm key={workerId} workerId={workerId} onCreated={setCreatedAlert} />
      )}
    </>
  );
}

/** @param onCreated gets the secret of a webhook, which is shown only once */
function NewAlertForm({ workerId, onCreated }: { workerId: string | null; onCreated: (alert: Alert) => void }) {
  const { data: me } = useMe();
  const sendsEmail = useIsEmailEnabled();
  const navigate = useNavigate();
  const { create } = useAlertMutations();
  const workerName = useWorkerName(workerId);
  const [selectedSubject, setSelectedSubject] = useState<Subject | null>(null);
  const [isSubmitted, setSubmitted] = useState(false);
  const defaultSubject: Subject = workerId
    ? { kind: 'worker', option: { id: workerId, label: workerName } }
    : { kind: 'workspace', option: null };
  const subject = selectedSubject ?? defaultSubject;
  const isIncomplete = subject.kind !== 'workspace' && subject.option === null;

  function submit(fields: AlertFields) {
    setSubmitted(true);
    if (isIncomplete) return;
    const { kind, option } = subject;
    create.mutate(
      {
        ...normalizeAlertFields(fields),
        ...(kind === 'worker' && option && { worker_id: option.id }),
        ...(kind === 'automation' && option && { automation_id: option.id }),
      },
      { onSuccess: (alert) => (alert.secret ? onCreated(alert) : navigate(alertPath(alert.id))) },
    );
  }

  if (!me || sendsEmail === undefined) return <Skeleton height={480} radius={10} />;
  return (
    <Panel title="Alert details">
      <AlertForm
        given={{
          on: ['run.failed', 'run.timed_out'],
          url: null,
          email_to: sendsEmail ? me.email : null,
          description: '',
        }}
        isForAutomation={subject.kind === 'automation'}
        submitLabel="Create alert"
        isBusy={create.isPending}
        error={create.error}
        onSubmit={submit}
        onCancel={() => navigate(workerId ? alertsPath(workerId) : paths.alerts)}
      >
        <SubjectField
          subject={subject}
          problem={
            isSubmitted && isIncomplete
              ? `Choose ${subject.kind === 'worker' ? 'a worker' : 'an automation'}.`
              : undefined
          }
          onChange={setSelectedSubject}
        />
      </AlertForm>
    </Panel>
  );
}
