import type { WorkerSchemas } from '@gantry/sdk';
import { Box, Button, Group, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { ToolsetCheckboxes } from '../../accounts/toolset-checkboxes';
import { TOOLSET_LABELS, type Toolset } from '../../accounts/toolsets';
import { api } from '../../shell/api';
import { useSession } from '../../shell/session';
import { useMe } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { type Detail, DetailList } from '../../ui/detail-list';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { type AuthorizationRequest, parseAuthorizationRequest } from './authorization-request';

type AuthorizationLookup = WorkerSchemas['AskedAuthorization'];

const LIFETIME_OPTIONS = [
  { value: '1', label: '1 day' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
];

/** Bypasses the router: the server has compared this external URL with those that the client registered. */
const redirectTo = (url: string) => window.location.replace(url);

/** Serves as the authorization endpoint of `/mcp`: shows the client's request, and lets a member decide. */
export default function AuthorizePage() {
  useTitle('Connect an app');
  const [search] = useSearchParams();
  const request = parseAuthorizationRequest(search);
  return (
    <Stack maw="40rem" gap="lg">
      <h1>Connect an app</h1>
      {request ? (
        <AuthorizationPanel request={request} />
      ) : (
        <Notice tone="error" title="This link is incomplete">
          Start again in the app that sent you here.
        </Notice>
      )}
    </Stack>
  );
}

function AuthorizationPanel({ request }: { request: AuthorizationRequest }) {
  const lookup = useQuery({
    queryKey: ['authorization', request],
    queryFn: () => api.account.POST('/auth/oauth/authorization/lookup', { body: request }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (lookup.isError) {
    return (
      <>
        <ErrorNotice title="This app can’t be connected" error={lookup.error} />
        <p className="panel-text">Start again in the app, or contact its developer.</p>
      </>
    );
  }
  if (!lookup.data) return <Skeleton height={320} />;
  const { refused } = lookup.data;
  return refused === null ? (
    <ConsentForm request={request} lookup={lookup.data} />
  ) : (
    <InvalidRequest refused={refused} lookup={lookup.data} />
  );
}

/** Requires a click as well, because a link alone must not redirect the browser to an external URL. */
function InvalidRequest({ refused, lookup }: { refused: string; lookup: AuthorizationLookup }) {
  // The last one is the server's: the client's redirect URI may have parameters of its own.
  const reason = new URL(refused).searchParams.getAll('error_description').at(-1);
  return (
    <Panel title="This request can’t be approved">
      <p className="panel-text">The app’s request is invalid: {reason}.</p>
      <Stack gap="md" mt="md">
        <DetailList details={listClientDetails(lookup)} />
        <Group gap="xs">
          <Button size="md" variant="default" onClick={() => redirectTo(refused)}>
            Return to the app
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}

function ConsentForm({ request, lookup }: { request: AuthorizationRequest; lookup: AuthorizationLookup }) {
  const { email } = useSession();
  const { data: me } = useMe();
  const [toolsets, setToolsets] = useState(Object.keys(TOOLSET_LABELS) as Toolset[]);
  const decide = useMutation({
    mutationFn: ({ workspaceId, ...body }: AuthorizationDecision) =>
      api.account.POST('/auth/oauth/authorization', {
        body: { request, ...body },
        // The workspace that was selected here, not the one that the dashboard shows.
        headers: { 'x-svc-workspace': workspaceId },
      }),
    onSuccess: ({ redirect_to }) => redirectTo(redirect_to),
  });
  const workspaces = me?.workspaces ?? [];
  const first = workspaces.find(({ id }) => id === me?.workspace_id) ?? workspaces[0];
  if (!me) return <Skeleton height={320} />;

  function submit(formData: FormData) {
    decide.mutate({
      workspaceId: String(formData.get('workspace')),
      decision: 'allow',
      toolsets,
      readonly: formData.get('access') === 'read',
      days: Number(formData.get('days')),
    });
  }

  const busy = decide.isPending || decide.isSuccess;
  return (
    <Panel title="Allow this app to connect?">
      <p className="panel-text">
        Allow access only if you just started connecting this app yourself. The app’s name is not verified.
      </p>
      <FormStack mt="md" onSubmit={handleSubmit(submit)}>
        <DetailList details={[...listClientDetails(lookup), ['Acts as', email ?? 'you']]} />
        <NativeSelect
          name="workspace"
          label="Workspace"
          description="The app can access only this workspace."
          size="md"
          data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          defaultValue={first?.id}
        />
        <NativeSelect
          name="access"
          label="Permissions"
          size="md"
          data={
            lookup.readonly
              ? [{ value: 'read', label: 'Read-only' }]
              : [
                  { value: 'all', label: 'Everything you can do with these tools' },
                  { value: 'read', label: 'Read-only' },
                ]
          }
        />
        <fieldset>
          <legend>Tools</legend>
          <Box
            className="auto-fit"
            mt="xs"
            __vars={{ '--column': '9rem' }}
            style={{ gap: 'var(--space-2) var(--space-4)' }}
          >
            <ToolsetCheckboxes value={toolsets} onChange={setToolsets} />
          </Box>
        </fieldset>
        <NativeSelect name="days" label="Expires after" size="md" data={LIFETIME_OPTIONS} defaultValue="90" />
        <ErrorNotice title="Decision not saved" error={decide.error} />
        <Group gap="xs">
          <Button type="submit" size="md" loading={busy} disabled={toolsets.length === 0 || !first}>
            Allow
          </Button>
          <Button
            size="md"
            variant="default"
            disabled={busy || !first}
            onClick={() =>
              first && decide.mutate({ workspaceId: first.id, decision: 'deny', readonly: false, days: 1 })
            }
          >
            Deny
          </Button>
        </Group>
      </FormStack>
    </Panel>
  );
}

interface AuthorizationDecision {
  workspaceId: string;
  decision: 'allow' | 'deny';
  toolsets?: Toolset[];
  readonly: boolean;
  days: number;
}

const listClientDetails = (lookup: AuthorizationLookup): Detail[] => [
  ['App name', lookup.client.name ?? 'Not provided'],
  ['Website', lookup.client.host ?? 'Unknown (not verified)'],
  ['Redirects to', describeRedirectDestination(lookup)],
];

const describeRedirectDestination = ({ opens, redirect_host: host }: AuthorizationLookup): string =>
  opens === 'this_device'
    ? `a program on this device (${host})`
    : opens === 'app'
      ? `an app on this device (${host}:)`
      : host;
