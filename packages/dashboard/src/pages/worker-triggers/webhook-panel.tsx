import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { CopyableCode } from '../../ui/copyable-code';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { findWebhookSecrets, toWebhookSecrets, type WebhookSecrets } from '../../workers/webhook-secrets';
import { findTrigger, replaceTrigger } from './trigger-list';
import { WebhookHelp } from './webhook-help';
import { WebhookRuns } from './webhook-runs';
import { WebhookTestForm } from './webhook-test-form';

export function WebhookPanel({ worker }: { worker: Worker }) {
  const [secrets, setSecrets] = useState(() => findWebhookSecrets(worker.id));
  const trigger = findTrigger(worker, 'webhook');
  const change = useUpdateWorker(worker.id, (updatedWorker) =>
    setSecrets((before) => ({ ...before, ...toWebhookSecrets(updatedWorker) })),
  );
  const canEdit = worker.permissions.edit && worker.status !== 'archived';
  const addWebhook = () => change.mutate(replaceTrigger(worker, 'webhook', { type: 'webhook', signed: false }));
  return (
    <Panel
      title="Webhook"
      aside={
        canEdit &&
        !trigger && (
          <Button variant="default" loading={change.isPending} onClick={addWebhook}>
            Add a webhook
          </Button>
        )
      }
    >
      <Stack gap="md">
        {trigger ? (
          <WebhookDetails worker={worker} trigger={trigger} secrets={secrets} canEdit={canEdit} change={change} />
        ) : (
          <Text maw="68ch" c="dimmed" fz="sm">
            It has no webhook: other programs can’t start it by an address of its own.
          </Text>
        )}
        <ErrorNotice title="The webhook was not changed" error={change.error} />
      </Stack>
    </Panel>
  );
}

interface WebhookDetailsProps {
  worker: Worker;
  trigger: Trigger;
  secrets: WebhookSecrets;
  canEdit: boolean;
  change: ReturnType<typeof useUpdateWorker>;
}

function WebhookDetails({ worker, trigger, secrets, canEdit, change }: WebhookDetailsProps) {
  const { webhook_url: url = '', signed = false } = trigger;
  const { token, signingKey } = secrets;
  return (
    <>
      {(token || signingKey) && (
        <Notice tone="info" title="Copy this now">
          {signingKey
            ? 'It is shown only once: the token is part of the URL, the signing key is for the sender.'
            : 'It is shown only once: the token is part of the URL.'}
        </Notice>
      )}
      <CopyableCode label="Address" code={token ? `${url}?token=${token}` : `${url}?token=…`} />
      {signingKey && <CopyableCode label="Signing key" code={signingKey} />}
      <Text maw="68ch" c="dimmed" fz="sm">
        Any JSON that is sent there starts a run; a JSON object becomes its inputs.{' '}
        {signed
          ? 'Requests must be signed, so that the address alone starts nothing.'
          : 'Anyone who has the URL with its token can start it.'}
      </Text>
      {canEdit && (
        <Group gap="xs" align="stretch">
          <ConfirmButton
            label="Make a new token"
            question="Make one, the old one ends now"
            {...toAction(change, { webhook_secret_rotate: true })}
          >
            New token
          </ConfirmButton>
          {signed && (
            <ConfirmButton
              label="Make a new signing key"
              question="Make one, the old one ends in a day"
              {...toAction(change, { webhook_signing_key_rotate: true })}
            >
              New signing key
            </ConfirmButton>
          )}
          <Button
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate(replaceTrigger(worker, 'webhook', { type: 'webhook', signed: !signed }))}
          >
            {signed ? 'Accept unsigned requests' : 'Require signatures'}
          </Button>
          <ConfirmButton
            label="Remove the webhook"
            question="Remove; the URL stops working now"
            {...toAction(change, replaceTrigger(worker, 'webhook', null), {
              onSuccess: () => toast('Webhook removed'),
            })}
          >
            Remove
          </ConfirmButton>
        </Group>
      )}
      {worker.permissions.run && worker.status === 'active' && (
        <WebhookTestForm key={`${token} ${signingKey}`} worker={worker} signed={signed} secrets={secrets} />
      )}
      <WebhookHelp url={url} signed={signed} />
      <WebhookRuns worker={worker} />
    </>
  );
}
