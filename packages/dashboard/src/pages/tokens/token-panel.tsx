import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { GRANTABLE_ROLE_OPTIONS, type GrantableRole, getRoleLabel } from '../../accounts/roles';
import type { Token, TokenRestriction } from '../../shell/api';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormRow, handleSubmit } from '../../ui/form';
import { NameCell } from '../../ui/name-cell';
import { ErrorNotice } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import { PanelTable } from '../../ui/resource-table';
import { buildActionsColumn, type Column } from '../../ui/table-model';
import { Timestamp } from '../../ui/timestamp';
import { describeRestriction, toRestrictionBody, UNRESTRICTED } from './restriction';
import { RestrictionFields } from './restriction-fields';
import { LAST_USED_COLUMN, TokenName } from './token-columns';

export interface TokenActions {
  list: () => Promise<Token[]>;
  create: (body: {
    name: string;
    role: GrantableRole;
    expires_at: string | null;
    restrict?: TokenRestriction;
  }) => Promise<{ name: string; token: string }>;
  revoke: (token: { id: string; withDescendants: boolean }) => Promise<unknown>;
}

interface TokenPanelProps {
  title: string;
  about: string;
  queryKey: string[];
  actions: TokenActions;
}

const LIFETIME_OPTIONS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'No expiry' },
];
const DAY_MS = 86_400_000;

export function TokenPanel({ title, about, queryKey, actions }: TokenPanelProps) {
  const queryClient = useQueryClient();
  const aboutId = useId();
  const [restriction, setRestriction] = useState(UNRESTRICTED);
  const tokens = useQuery({ queryKey, queryFn: actions.list });
  const invalidateOnSettled = { onSettled: () => queryClient.invalidateQueries({ queryKey }) };
  const create = useMutation({ ...invalidateOnSettled, mutationFn: actions.create });
  const revoke = useMutation({ ...invalidateOnSettled, mutationFn: actions.revoke });

  function submit(formData: FormData, form: HTMLFormElement) {
    const days = Number(formData.get('days'));
    const restrict = toRestrictionBody(restriction);
    const body = {
      name: String(formData.get('name')),
      role: formData.get('role') as GrantableRole,
      expires_at: days ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
      ...(restrict && { restrict }),
    };
    create.mutate(body, {
      onSuccess: () => {
        form.reset();
        setRestriction(UNRESTRICTED);
      },
    });
  }

  const columns: Column<Token>[] = [
    {
      head: 'Name',
      sortBy: ({ name }) => name,
      cell: (token) => (
        <NameCell name={<TokenName name={token.name} prefix={token.prefix} />}>
          {token.created_by_token_id && describeCreator(token, tokens.data)}
          {describeRestriction(token).join(' · ')}
        </NameCell>
      ),
    },
    { head: 'Permissions', cell: ({ role }) => (role ? `Up to ${getRoleLabel(role)}` : 'All your permissions') },
    LAST_USED_COLUMN,
    {
      head: 'Expires',
      sortBy: ({ expires_at }) => expires_at && Date.parse(expires_at),
      cell: ({ expires_at }) => <Expiry at={expires_at} />,
    },
    buildActionsColumn((token) => (
      <TokenActionButtons
        token={token}
        busy={revoke.isPending && revoke.variables.id === token.id}
        onRevoke={(withDescendants) => revoke.mutate({ id: token.id, withDescendants })}
      />
    )),
  ];
  const failure = create.error ?? revoke.error;
  return (
    <Panel title={title}>
      <p id={aboutId} className="panel-text">
        {about}
      </p>
      <FormRow mb="md" onSubmit={handleSubmit(submit)} aria-describedby={aboutId}>
        <TextInput
          flex="1 1 16rem"
          name="name"
          label="What is this token for?"
          placeholder="laptop, nightly jobs"
          maxLength={100}
          autoComplete="off"
          required
        />
        <NativeSelect name="role" label="Permissions" size="md" data={GRANTABLE_ROLE_OPTIONS} defaultValue="member" />
        <NativeSelect name="days" label="Expires after" size="md" data={LIFETIME_OPTIONS} defaultValue="90" />
        <Button type="submit" size="md" loading={create.isPending}>
          Create token
        </Button>
        <RestrictionFields restriction={restriction} onChange={setRestriction} />
      </FormRow>
      <ErrorNotice title={create.error ? 'Token not created' : 'Token not revoked'} error={failure} />
      {create.data && (
        <OneTimeSecret label={create.data.name} value={create.data.token}>
          Copy the token now. It’s shown only once and isn’t stored.
        </OneTimeSecret>
      )}
      <PanelTable label={title} noun="tokens" query={tokens} columns={columns} />
    </Panel>
  );
}

/** Names the token that created this one, if that is in the list. */
function describeCreator({ created_by_token_id, created_by_token_revoked }: Token, tokens: Token[] = []): string {
  const name = tokens.find(({ id }) => id === created_by_token_id)?.name;
  return `Created by ${name ? `token ${name}` : 'another token'}${created_by_token_revoked ? ' (revoked)' : ''}`;
}

interface TokenActionButtonsProps {
  token: Token;
  busy: boolean;
  onRevoke: (withDescendants: boolean) => void;
}

function TokenActionButtons({ token: { name, made_tokens }, busy, onRevoke }: TokenActionButtonsProps) {
  return (
    <>
      <ConfirmButton label={`Revoke ${name}`} question="Revoke now" busy={busy} onConfirm={() => onRevoke(false)}>
        Revoke
      </ConfirmButton>
      {made_tokens > 0 && (
        <ConfirmButton
          label={`Revoke token and child tokens (${made_tokens}): ${name}`}
          question={`Revoke all ${made_tokens + 1} now`}
          busy={busy}
          onConfirm={() => onRevoke(true)}
        >
          {`Revoke token and child tokens (${made_tokens})`}
        </ConfirmButton>
      )}
    </>
  );
}

const EXPIRY_WARNING_MS = 7 * DAY_MS;

const Expiry = ({ at }: { at: string | null }) => (
  <Text c="var(--tone, inherit)" data-tone={getExpiryTone(at)}>
    {at ? (
      <>
        {Date.parse(at) > Date.now() ? 'Expires' : 'Expired'} <Timestamp at={Date.parse(at)} />
      </>
    ) : (
      'Does not expire'
    )}
  </Text>
);

/** Returns the tone of an expiry: error once expired, timeout within a week of it. */
function getExpiryTone(expiresAt: string | null): 'error' | 'timeout' | undefined {
  if (expiresAt === null) return undefined;
  const remainingMs = Date.parse(expiresAt) - Date.now();
  return remainingMs <= 0 ? 'error' : remainingMs < EXPIRY_WARNING_MS ? 'timeout' : undefined;
}
