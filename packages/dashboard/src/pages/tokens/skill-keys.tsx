import { useMutation } from '@tanstack/react-query';
import { type ApiKey, api } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { ConfirmButton } from '../../ui/confirm-button';
import { NameCell } from '../../ui/name-cell';
import { NameForm } from '../../ui/name-form';
import { ErrorNotice } from '../../ui/notice';
import { OneTimeSecret } from '../../ui/one-time-secret';
import { Panel } from '../../ui/panel';
import { PanelTable } from '../../ui/resource-table';
import { buildActionsColumn, type Column } from '../../ui/table-model';
import { Timestamp } from '../../ui/timestamp';
import { LAST_USED_COLUMN, TokenName } from './token-columns';

const buildListKey = (workspaceId: string | undefined) => ['tokens', workspaceId, 'skills'];
const listKeys = () => api.skills.GET('/api/v1/api-keys');
const createKey = (name: string) => api.skills.POST('/api/v1/api-keys', { body: { name } });
const toPathParams = (id: string) => ({ params: { path: { id } } });
const rotateKey = (id: string) => api.skills.POST('/api/v1/api-keys/{id}/rotate', toPathParams(id));
const revokeKey = (id: string) => api.skills.DELETE('/api/v1/api-keys/{id}', toPathParams(id));

/** Manages keys that give access only to the member's skills in this workspace. */
export function SkillKeys() {
  const keys = useWorkspaceQuery(buildListKey, listKeys);
  const onSettled = useInvalidateQueries(buildListKey);
  const create = useMutation({ onSettled, mutationFn: createKey });
  const renew = useMutation({ onSettled, mutationFn: rotateKey });
  const remove = useMutation({ onSettled, mutationFn: revokeKey });
  // The key of the latest request.
  const latestKey = (renew.submittedAt > create.submittedAt ? renew : create).data;

  const isBusy = (id: string) => [renew, remove].some(({ isPending, variables }) => isPending && variables === id);
  const columns: Column<ApiKey>[] = [
    {
      head: 'Name',
      sortBy: ({ name }) => name,
      cell: ({ name, prefix }) => <NameCell name={<TokenName name={name} prefix={prefix} />} />,
    },
    {
      head: 'Created',
      sortBy: ({ created_at, rotated_at }) => Date.parse(rotated_at ?? created_at),
      cell: ({ created_at, rotated_at }) => (
        <>
          {rotated_at ? 'Renewed' : 'Created'} <Timestamp at={Date.parse(rotated_at ?? created_at)} />
        </>
      ),
    },
    LAST_USED_COLUMN,
    { head: 'Expires', cell: () => 'Does not expire' },
    buildActionsColumn(({ id, name }) => (
      <>
        <ConfirmButton
          label={`Renew ${name}`}
          question="Renew now"
          busy={isBusy(id)}
          onConfirm={() => renew.mutate(id)}
        >
          Renew
        </ConfirmButton>
        <ConfirmButton
          label={`Revoke ${name}`}
          question="Revoke now"
          busy={isBusy(id)}
          onConfirm={() => remove.mutate(id)}
        >
          Revoke
        </ConfirmButton>
      </>
    )),
  ];
  return (
    <Panel title="Skill keys">
      <p className="panel-text">
        For agents that read and publish your skills in this workspace. Keys grant no other access.
      </p>
      <NameForm
        label="Which agent is this key for?"
        placeholder="editor, review bot"
        submit="Create key"
        isBusy={create.isPending}
        onSubmit={(name, reset) => create.mutate(name, { onSuccess: reset })}
      />
      <ErrorNotice
        title={create.error ? 'Key not created' : renew.error ? 'Key not renewed' : 'Key not revoked'}
        error={create.error ?? renew.error ?? remove.error}
      />
      {latestKey && (
        <OneTimeSecret label={latestKey.name} value={latestKey.key}>
          Copy the key now. It’s shown only once and isn’t stored.
        </OneTimeSecret>
      )}
      <PanelTable label="Skill keys" noun="keys" query={keys} columns={columns} />
    </Panel>
  );
}
