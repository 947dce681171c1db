import { unwrap } from '@gantry/sdk';
import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { type ApiKey, skillsApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormRow } from '../../ui/form';
import { Failure } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { ResourceList } from '../../ui/resource-list';
import { RowList } from '../../ui/row-list';
import { Timestamp } from '../../ui/timestamp';
import { LastUsed, TOKEN_COLUMNS, TokenFact, TokenName } from './token-row';

const listKeys = async () => unwrap((await skillsApi()).GET('/api/v1/api-keys'));
const createKey = async (name: string) => unwrap((await skillsApi()).POST('/api/v1/api-keys', { body: { name } }));
const keyParams = (id: string) => ({ params: { path: { id } } });
const rotateKey = async (id: string) => unwrap((await skillsApi()).POST('/api/v1/api-keys/{id}/rotate', keyParams(id)));
const revokeKey = async (id: string) => unwrap((await skillsApi()).DELETE('/api/v1/api-keys/{id}', keyParams(id)));

/** Manages keys that give access only to the member's skills in this workspace. */
export function SkillKeys() {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const queryKey = ['tokens', workspaceId, 'skills'];
  const keys = useQuery({ queryKey, queryFn: listKeys, enabled: workspaceId !== undefined });
  const invalidateOnSettled = { onSettled: () => queryClient.invalidateQueries({ queryKey }) };
  const create = useMutation({ ...invalidateOnSettled, mutationFn: createKey });
  const renew = useMutation({ ...invalidateOnSettled, mutationFn: rotateKey });
  const remove = useMutation({ ...invalidateOnSettled, mutationFn: revokeKey });
  // The key of the latest request.
  const latestKey = (renew.submittedAt > create.submittedAt ? renew : create).data;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate(String(new FormData(form).get('name')), { onSuccess: () => form.reset() });
  }

  return (
    <Panel title="Keys for skills">
      <p className={styles.text}>
        For agents that read and publish your skills in this workspace. A key opens nothing else.
      </p>
      <FormRow mb="md" onSubmit={submit}>
        <TextInput
          flex="1 1 16rem"
          name="name"
          label="Which agent is it for?"
          placeholder="editor, review bot"
          maxLength={100}
          autoComplete="off"
          required
          withAsterisk={false}
        />
        <Button type="submit" size="md" loading={create.isPending}>
          Create key
        </Button>
      </FormRow>
      <Failure title="Nothing was changed" error={create.error ?? renew.error ?? remove.error} />
      {latestKey && (
        <OneTimeSecret label={latestKey.name} value={latestKey.key}>
          Copy the key now: it is shown only once and not stored.
        </OneTimeSecret>
      )}
      <ResourceList what="The list of keys" query={keys} items={keys.data} height={80}>
        {(all) => (
          <RowList columns={TOKEN_COLUMNS}>
            {all.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                busy={[renew, remove].some(({ isPending, variables }) => isPending && variables === key.id)}
                onRotate={() => renew.mutate(key.id)}
                onRevoke={() => remove.mutate(key.id)}
              />
            ))}
          </RowList>
        )}
      </ResourceList>
    </Panel>
  );
}

interface KeyRowProps {
  apiKey: ApiKey;
  busy: boolean;
  onRotate: () => void;
  onRevoke: () => void;
}

function KeyRow({
  apiKey: { name, prefix, created_at, rotated_at, last_used_at },
  busy,
  onRotate,
  onRevoke,
}: KeyRowProps) {
  return (
    <li>
      <TokenName name={name} prefix={prefix} />
      <TokenFact>
        {rotated_at ? 'Renewed' : 'Created'} <Timestamp at={Date.parse(rotated_at ?? created_at)} />
      </TokenFact>
      <LastUsed at={last_used_at} />
      <TokenFact>Does not expire</TokenFact>
      <Group gap="xs">
        <ConfirmButton label={`Renew ${name}`} question="Replace it now" busy={busy} onConfirm={onRotate}>
          Renew
        </ConfirmButton>
        <ConfirmButton label={`Revoke ${name}`} question="Revoke now" busy={busy} onConfirm={onRevoke}>
          Revoke
        </ConfirmButton>
      </Group>
    </li>
  );
}
