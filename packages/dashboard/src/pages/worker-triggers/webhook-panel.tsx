import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { CopyableCode } from '../../ui/copyable-code';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { getWebhookSecrets, storeWebhookSecrets, type WebhookSecrets } from '../../workers/webhook-secrets';
import { findTrigger, replaceTriggers } from './trigger-list';
import { WebhookHelp } from './webhook-help';
import { WebhookRuns } from './webhook-runs';
import { WebhookTestForm } from './webhook-test-form';

export function WebhookPanel({ worker }: { worker: Worker }) {
  const [secrets, setSecrets] = useState(() => getWebhookSecrets(worker));
  const trigger = findTrigger(worker, 'webhook');
  const change = useUpdateWorker(worker.id, (updatedWorker) => setSecrets(storeWebhookSecrets(updatedWorker)));
  const canEdit = canEditWorker(worker);
  const addWebhook = () => change.mutate(replaceTriggers(worker, 'webhook', [{ type: 'webhook', signed: false }]));
  return (
    <Panel
      title="Webhook"
      aside={
        canEdit &&
        !trigger && (
          <Button variant="default" loading={change.isPending} onClick={addWebhook}>
            Add webhook
          </Button>
        )
      }
    >
      <Stack gap="md">
        {trigger ? (
          <WebhookDetails worker={worker} trigger={trigger} secrets={secrets} canEdit={canEdit} change={change} />
        ) : (
          <p className="help-text">No webhook. Add one to start runs from other apps.</p>
        )}
        <ErrorNotice title="Webhook not saved" error={change.error} />
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
        <Notice
          tone="info"
          title={`Copy the ${[...(token ? ['URL'] : []), ...(signingKey ? ['signing key'] : [])].join(' and ')} now`}
        >
          {signingKey
            ? 'You won’t be able to see the full values again. The URL contains the token, and the sender needs the signing key.'
            : 'You won’t be able to see the full URL again because it contains the token.'}
        </Notice>
      )}
      <CopyableCode label="URL" code={token ? `${url}?token=${token}` : `${url}?token=…`} />
      {signingKey && <CopyableCode label="Signing key" code={signingKey} />}
      <p className="help-text">
        Sending JSON to this URL starts a run. If the JSON is an object, it’s used as the run’s inputs.{' '}
        {signed
          ? 'Requests must be signed, so the URL alone can’t start a run.'
          : 'The URL alone is enough to start a run.'}
      </p>
      {canEdit && (
        <Group gap="xs" align="stretch">
          <ConfirmButton
            label="Create new token"
            question="Create token and revoke the old one"
            {...toAction(change, { webhook_secret_rotate: true })}
          >
            New token
          </ConfirmButton>
          {signed && (
            <ConfirmButton
              label="Create new signing key"
              question="Create key (old key expires in a day)"
              {...toAction(change, { webhook_signing_key_rotate: true })}
            >
              New signing key
            </ConfirmButton>
          )}
          <Button
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate(replaceTriggers(worker, 'webhook', [{ type: 'webhook', signed: !signed }]))}
          >
            {signed ? 'Accept unsigned requests' : 'Require signatures'}
          </Button>
          <ConfirmButton
            label="Remove webhook"
            question="Remove webhook and disable its URL"
            {...toAction(change, replaceTriggers(worker, 'webhook', []), {
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
