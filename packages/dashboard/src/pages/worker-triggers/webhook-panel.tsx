import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { CodeToCopy } from '../../ui/code-to-copy';
import { ConfirmButton } from '../../ui/confirm-button';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useChangeWorker } from '../../workers/use-change-worker';
import { secretsIn, takeWebhookSecrets, type WebhookSecrets } from '../../workers/webhook-secrets';
import { triggerOf, withTrigger } from './trigger-list';
import { TryWebhook } from './try-webhook';
import { WebhookHelp } from './webhook-help';
import { WebhookRuns } from './webhook-runs';

export function WebhookPanel({ worker }: { worker: Worker }) {
  const [secrets, setSecrets] = useState(() => takeWebhookSecrets(worker.id));
  const trigger = triggerOf(worker, 'webhook');
  const change = useChangeWorker(worker.id, (changed) =>
    setSecrets((before) => ({ ...before, ...secretsIn(changed) })),
  );
  const mayEdit = worker.permissions.edit && worker.status !== 'archived';
  const add = () => change.mutate(withTrigger(worker, 'webhook', { type: 'webhook', signed: false }));
  return (
    <Panel
      title="Webhook"
      aside={
        mayEdit &&
        !trigger && (
          <Button variant="default" loading={change.isPending} onClick={add}>
            Add a webhook
          </Button>
        )
      }
    >
      <Stack gap="md">
        {trigger ? (
          <Shown worker={worker} trigger={trigger} secrets={secrets} mayEdit={mayEdit} change={change} />
        ) : (
          <Text maw="68ch" c="dimmed" fz="sm">
            It has no webhook: other programs can’t start it by an address of its own.
          </Text>
        )}
        <Failure title="The webhook was not changed" error={change.error} />
      </Stack>
    </Panel>
  );
}

interface ShownProps {
  worker: Worker;
  trigger: Trigger;
  secrets: WebhookSecrets;
  mayEdit: boolean;
  change: ReturnType<typeof useChangeWorker>;
}

function Shown({ worker, trigger, secrets, mayEdit, change }: ShownProps) {
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
      <CodeToCopy label="Address" code={token ? `${url}?token=${token}` : `${url}?token=…`} />
      {signingKey && <CodeToCopy label="Signing key" code={signingKey} />}
      <Text maw="68ch" c="dimmed" fz="sm">
        Any JSON that is sent there starts a run; a JSON object becomes its inputs.{' '}
        {signed
          ? 'Requests must be signed, so that the address alone starts nothing.'
          : 'Anyone who has the URL with its token can start it.'}
      </Text>
      {mayEdit && (
        <Group gap="xs" align="stretch">
          <ConfirmButton
            label="Make a new token"
            question="Make one, the old one ends now"
            busy={change.isPending}
            onConfirm={() => change.mutate({ webhook_secret_rotate: true })}
          >
            New token
          </ConfirmButton>
          {signed && (
            <ConfirmButton
              label="Make a new signing key"
              question="Make one, the old one ends in a day"
              busy={change.isPending}
              onConfirm={() => change.mutate({ webhook_signing_key_rotate: true })}
            >
              New signing key
            </ConfirmButton>
          )}
          <Button
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate(withTrigger(worker, 'webhook', { type: 'webhook', signed: !signed }))}
          >
            {signed ? 'Accept unsigned requests' : 'Require signatures'}
          </Button>
          <ConfirmButton
            label="Remove the webhook"
            question="Remove it, its address ends now"
            busy={change.isPending}
            onConfirm={() =>
              change.mutate(withTrigger(worker, 'webhook', null), { onSuccess: () => toast('The webhook is removed') })
            }
          >
            Remove
          </ConfirmButton>
        </Group>
      )}
      {worker.permissions.run && worker.status === 'active' && (
        <TryWebhook key={`${token} ${signingKey}`} worker={worker} signed={signed} secrets={secrets} />
      )}
      <WebhookHelp url={url} signed={signed} />
      <WebhookRuns worker={worker} />
    </>
  );
}
