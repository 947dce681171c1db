import { Button } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import { LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { ResourceTable } from '../../ui/resource-table';
import { buildActionsColumn } from '../../ui/table-model';
import { DeleteSecretDialog } from './delete-secret-dialog';
import { SECRET_COLUMNS, SECRET_SEARCH, SecretActions } from './secret-columns';
import { useSecrets } from './secret-queries';
import { joinSecrets, type SecretRow, SURFACES } from './secret-rows';
import { SetSecretDialog } from './set-secret-dialog';

/** Lists the secrets of workers and automations: each name once, with its state on each surface. */
export default function SecretsPage() {
  useTitle('Secrets');
  const workspace = useWorkspace();
  const canEdit = hasRoleAtLeast(workspace?.role, 'admin');
  const queries = { workers: useSecrets('workers'), automations: useSecrets('automations') };
  const [search, setSearch] = useSearchParams();
  const [secretToDelete, setSecretToDelete] = useState<SecretRow | null>(null);
  const isLoaded = SURFACES.every((surface) => queries[surface].data || queries[surface].error);
  const rows = joinSecrets(queries.workers.data, queries.automations.data);
  const requestedName = search.get('set');
  const openSetDialog = (name: string | null) => setSearch(name === null ? {} : { set: name }, { replace: true });
  const secretActions = buildActionsColumn<SecretRow>((row) => (
    <SecretActions row={row} onSet={() => openSetDialog(row.name)} onDelete={() => setSecretToDelete(row)} />
  ));
  const columns = canEdit ? [...SECRET_COLUMNS, secretActions] : SECRET_COLUMNS;
  return (
    <>
      <PageHeader
        title="Secrets"
        about="Available to runs as environment variables. Values are encrypted and can’t be read back."
        actions={canEdit && <Button onClick={() => openSetDialog('')}>New secret</Button>}
      />
      {SURFACES.map((surface) => {
        const { error, refetch } = queries[surface];
        return error && <LoadErrorNotice key={surface} what={`Secrets for ${surface}`} error={error} retry={refetch} />;
      })}
      <ResourceTable
        label="Secrets"
        what="The secrets"
        query={queries.workers}
        items={isLoaded ? rows : undefined}
        height={320}
        columns={columns}
        getKey={({ name }) => name}
        isCard
        search={SECRET_SEARCH}
        empty={
          <EmptyState title="No secrets yet" level={2}>
            <p>
              {canEdit
                ? 'Create a secret here, then add its name to “secrets” in a worker or “secrets_needed” in an automation.'
                : 'Admins and owners of this workspace can create secrets.'}
            </p>
          </EmptyState>
        }
      />
      {canEdit && isLoaded && requestedName !== null && (
        <SetSecretDialog
          key={requestedName}
          name={requestedName}
          existingRows={rows}
          onClose={() => openSetDialog(null)}
        />
      )}
      {secretToDelete && <DeleteSecretDialog row={secretToDelete} onClose={() => setSecretToDelete(null)} />}
    </>
  );
}
