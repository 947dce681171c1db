import { Button, Group, PasswordInput, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useInvalidateRuns } from '../../runs/worker-runs';
import { api, type Worker } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { bindText } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';
import { workerKeys } from '../../workers/use-worker';
import type { WebhookSecrets } from '../../workers/webhook-secrets';
import { buildSignatureHeaders, canSign } from './signature-headers';

interface WebhookTestFormProps {
  worker: Worker;
  signed: boolean;
  secrets: WebhookSecrets;
}

/** Sends a request to the webhook as another program would, without the member's session. */
export function WebhookTestForm({ worker, signed, secrets }: WebhookTestFormProps) {
  const invalidateRuns = useInvalidateRuns();
  const [token, setToken] = useState(secrets.token ?? '');
  const [signingKey, setSigningKey] = useState(secrets.signingKey ?? '');
  const [editedBody, setEditedBody] = useState<string | null>(null);
  const path = { worker_id: worker.id };
  const { data: sample, isPending } = useWorkspaceQuery(
    (workspaceId) => workerKeys.part(workspaceId, worker.id, 'sample', { version: worker.version }),
    () => api.worker.GET('/api/workers/{worker_id}/sample-input', { params: { path } }),
  );
  const body = editedBody ?? JSON.stringify(sample?.inputs ?? {}, null, 2);
  const send = useMutation({
    mutationFn: async () => {
      const headers = signed ? await buildSignatureHeaders(signingKey, body) : {};
      return api.visitor.POST('/api/webhooks/{worker_id}', {
        params: { path, query: { token: token.trim() } },
        body: body as never,
        // Sent unchanged, because this text is signed.
        bodySerializer: (text: unknown) => String(text),
        headers: { 'Content-Type': 'application/json', ...headers },
      });
    },
    onSuccess: invalidateRuns,
  });
  return (
    <FormStack
      gap="sm"
      maw="40rem"
      pt="md"
      style={{ borderTop: '1px solid var(--line)' }}
      onSubmit={handleSubmit(() => send.mutate())}
    >
      <h3>Send a test request</h3>
      <PasswordInput
        label="Token"
        description="The part of the URL after token="
        {...bindText(token, setToken)}
        autoComplete="off"
        required
      />
      {signed && (
        <PasswordInput
          label="Signing key"
          description={canSign() ? 'Starts with whsec_ and never leaves this page' : undefined}
          error={canSign() ? undefined : 'This browser can only sign requests over HTTPS or on localhost.'}
          {...bindText(signingKey, setSigningKey)}
          autoComplete="off"
          required
        />
      )}
      <Textarea
        label="JSON body"
        rows={5}
        {...bindText(body, setEditedBody)}
        // Otherwise the loaded sample would overwrite the input.
        disabled={isPending}
        spellCheck={false}
        className="code-field"
      />
      <Group gap="xs" align="stretch">
        <Button type="submit" variant="default" loading={send.isPending} disabled={signed && !canSign()}>
          Send
        </Button>
      </Group>
      {send.data && (
        <Notice
          tone="info"
          title="Request accepted"
          action={<Link to={workerRunPath(send.data.run_id)}>View run</Link>}
        >
          The request started a run.
        </Notice>
      )}
      <ErrorNotice title="Request rejected" error={send.error} />
    </FormStack>
  );
}
