import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { GRANTABLE_ROLE_OPTIONS, type GrantableRole, roleLabel } from '../../accounts/roles';
import type { Token } from '../../shell/api';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormRow } from '../../ui/form';
import { Failure } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { ResourceList } from '../../ui/resource-list';
import { RowList, RowNote } from '../../ui/row-list';
import { Timestamp } from '../../ui/timestamp';
import { describeRestriction, NOT_RESTRICTED, type RestrictionBody, toRestrictionBody } from './restriction';
import { RestrictionFields } from './restriction-fields';
import { LastUsed, TOKEN_COLUMNS, TokenFact, TokenName } from './token-row';

export interface TokenActions {
  list: () => Promise<Token[]>;
  create: (body: {
    name: string;
    role: GrantableRole;
    expires_at: string | null;
    restrict?: RestrictionBody;
  }) => Promise<{ name: string; token: string }>;
  revoke: (token: { id: string; withDescendants: boolean }) => Promise<unknown>;
}

interface TokenPanelProps {
  title: string;
  about: string;
  queryKey: string[];
  actions: TokenActions;
}

const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'no expiry' },
];
const DAY_MS = 86_400_000;

export function TokenPanel({ title, about, queryKey, actions }: TokenPanelProps) {
  const queryClient = useQueryClient();
  const aboutId = useId();
  const [restriction, setRestriction] = useState(NOT_RESTRICTED);
  const tokens = useQuery({ queryKey, queryFn: actions.list });
  const invalidateOnSettled = { onSettled: () => queryClient.invalidateQueries({ queryKey }) };
  const create = useMutation({ ...invalidateOnSettled, mutationFn: actions.create });
  const revoke = useMutation({ ...invalidateOnSettled, mutationFn: actions.revoke });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const formData = new FormData(form);
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
        setRestriction(NOT_RESTRICTED);
      },
    });
  }

  const failure = create.error ?? revoke.error;
  return (
    <Panel title={title}>
      <p id={aboutId} className={styles.text}>
        {about}
      </p>
      <FormRow mb="md" onSubmit={submit} aria-describedby={aboutId}>
        <TextInput
          flex="1 1 16rem"
          name="name"
          label="What is it for?"
          placeholder="laptop, nightly jobs"
          maxLength={100}
          autoComplete="off"
          required
          withAsterisk={false}
        />
        <NativeSelect name="role" label="May do" size="md" data={GRANTABLE_ROLE_OPTIONS} defaultValue="member" />
        <NativeSelect name="days" label="Expires after" size="md" data={LIFETIMES} defaultValue="90" />
        <Button type="submit" size="md" loading={create.isPending}>
          Create token
        </Button>
        <RestrictionFields restriction={restriction} onChange={setRestriction} />
      </FormRow>
      <Failure title="Nothing was changed" error={failure} />
      {create.data && (
        <OneTimeSecret label={create.data.name} value={create.data.token}>
          Copy the token now: it is shown only once and not stored.
        </OneTimeSecret>
      )}
      <ResourceList what="The list of tokens" query={tokens} items={tokens.data} height={80}>
        {(tokenList) => (
          <RowList columns={TOKEN_COLUMNS}>
            {tokenList.map((token) => (
              <TokenRow
                key={token.id}
                token={token}
                creatorName={tokenList.find(({ id }) => id === token.created_by_token_id)?.name}
                busy={revoke.isPending && revoke.variables.id === token.id}
                onRevoke={(withDescendants) => revoke.mutate({ id: token.id, withDescendants })}
              />
            ))}
          </RowList>
        )}
      </ResourceList>
    </Panel>
  );
}

interface TokenRowProps {
  token: Token;
  /** The name of the token that created it, if that is in the list. */
  creatorName: string | undefined;
  busy: boolean;
  onRevoke: (withDescendants: boolean) => void;
}

const SOON_MS = 7 * DAY_MS;

function TokenRow({ token, creatorName, busy, onRevoke }: TokenRowProps) {
  const { name, prefix, role, expires_at, last_used_at, made_tokens } = token;
  const rules = describeRestriction(token);
  return (
    <li>
      <div>
        <TokenName name={name} prefix={prefix} />
        {token.created_by_token_id && (
          <p className={styles.about}>
            created by {creatorName ? `the token ${creatorName}` : 'another token'}
            {token.created_by_token_revoked && ', which was revoked'}
          </p>
        )}
      </div>
      <TokenFact>{role ? `At most ${roleLabel(role)}` : 'All your permissions'}</TokenFact>
      <LastUsed at={last_used_at} />
      <TokenFact tone={expiryTone(expires_at)}>
        {expires_at ? (
          <>
            {Date.parse(expires_at) > Date.now() ? 'Ends' : 'Expired'} <Timestamp at={Date.parse(expires_at)} />
          </>
        ) : (
          'Does not expire'
        )}
      </TokenFact>
      {rules.length > 0 && <RowNote>{rules.join(' · ')}</RowNote>}
      <Group gap="xs">
        <ConfirmButton label={`Revoke ${name}`} question="Revoke now" busy={busy} onConfirm={() => onRevoke(false)}>
          Revoke
        </ConfirmButton>
        {made_tokens > 0 && (
          <ConfirmButton
            label={`Revoke with the ${made_tokens} it made: ${name}`}
            question={`Revoke all ${made_tokens + 1} now`}
            busy={busy}
            onConfirm={() => onRevoke(true)}
          >
            {`Revoke with the ${made_tokens} it made`}
          </ConfirmButton>
        )}
      </Group>
    </li>
  );
}

/** Returns the tone of an expiry: error once expired, timeout within a week of it. */
function expiryTone(expiresAt: string | null): 'error' | 'timeout' | undefined {
  if (expiresAt === null) return undefined;
  const remainingMs = Date.parse(expiresAt) - Date.now();
  return remainingMs <= 0 ? 'error' : remainingMs < SOON_MS ? 'timeout' : undefined;
}
