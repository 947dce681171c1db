import type { WorkerSchemas } from '@gantry/sdk';
import { Box, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from '../../shell/api';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import { type Detail, DetailList } from '../../ui/detail-list';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './device-page.module.css';

type DeviceRequest = WorkerSchemas['DeviceRequest'];

/**
 * Approves a program's sign-in. The code is typed by hand and never taken from the URL, so that a link from an
 * attacker is not enough to approve the attacker's program.
 */
export default function DevicePage() {
  useTitle('Connect an app');
  const code = useRef<HTMLInputElement>(null);
  useEffect(() => code.current?.focus(), []);
  const lookUp = useMutation({
    mutationFn: (user_code: string) => api.worker.POST('/api/cli-auth/devices/lookup', { body: { user_code } }),
    onError: () => code.current?.focus(),
  });
  const decide = useMutation({
    mutationFn: async ({ request, approve }: { request: DeviceRequest; approve: boolean }) => {
      const options = {
        body: { user_code: request.user_code },
        // The workspace that was shown, even if another tab has switched since.
        headers: { 'x-svc-workspace': request.workspace.id },
      };
      await (approve
        ? api.worker.POST('/api/cli-auth/devices/approve', options)
        : api.worker.POST('/api/cli-auth/devices/deny', options));
      return { approve, client: request.client_name ?? 'The app' };
    },
  });

  return (
    <Stack maw="40rem" gap="lg">
      <h1>Connect an app</h1>
      {decide.data ? (
        <div role="status">
          <Notice tone="info" title={decide.data.approve ? 'Connected' : 'Denied'}>
            {decide.data.approve
              ? `${decide.data.client} can now act on your behalf. You can close this page. To disconnect the app, revoke its token under Tokens.`
              : `${decide.data.client} was not connected.`}
          </Notice>
        </div>
      ) : lookUp.data ? (
        <DeviceDecision
          request={lookUp.data}
          busy={decide.isPending}
          error={decide.error}
          onDecide={(approve) => decide.mutate({ request: lookUp.data, approve })}
        />
      ) : (
        <FormStack maw="26rem" onSubmit={handleSubmit((formData) => lookUp.mutate(String(formData.get('code'))))}>
          <TextInput
            ref={code}
            name="code"
            label="Code"
            description="Enter the 8-character code shown in your terminal, such as ABCD-2345."
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={32}
            required
            classNames={{ input: styles.code }}
          />
          <ErrorNotice title="Invalid code" error={lookUp.error} />
          <Button type="submit" size="md" w="fit-content" loading={lookUp.isPending}>
            Continue
          </Button>
        </FormStack>
      )}
    </Stack>
  );
}

interface DeviceDecisionProps {
  request: DeviceRequest;
  busy: boolean;
  error: Error | null;
  onDecide: (approve: boolean) => void;
}

function DeviceDecision({ request, busy, error, onDecide }: DeviceDecisionProps) {
  const { email } = useSession();
  const { user_code, client_name, address, user_agent, requested_at, workspace } = request;
  const details: Detail[] = [
    ['Code', <code key="code">{user_code}</code>],
    ['App', client_name ?? 'Unknown'],
    ['Requested from', [address, user_agent].filter(Boolean).join(', ') || 'Unknown'],
    ['Requested', <Timestamp key="asked" at={Date.parse(requested_at)} />],
    ['Workspace', workspace.name],
    ['Permissions', `Same as ${email ?? 'yours'} (${workspace.role} in this workspace)`],
  ];
  return (
    <Panel title="Approve this app?">
      <p className="panel-text">
        Approve only if you just made this request yourself and your terminal shows the same code.
      </p>
      <Box m="16px 0">
        <DetailList details={details} />
      </Box>
      <ErrorNotice title="Decision not saved" error={error} />
      <Group gap="xs">
        <Button size="md" loading={busy} onClick={() => onDecide(true)}>
          Approve
        </Button>
        <Button size="md" variant="default" disabled={busy} onClick={() => onDecide(false)}>
          Deny
        </Button>
      </Group>
    </Panel>
  );
}
