import { Box, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { SearchIcon } from '../../ui/icons';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { EmptyList, ResourceList } from '../../ui/resource-list';
import { DeleteSecretDialog } from './delete-secret';
import { SecretItem } from './secret-item';
import { useSecrets } from './secret-queries';
import { joinSecrets, type SecretRow, SURFACES } from './secret-rows';
import styles from './secrets-page.module.css';
import { SetSecretDialog } from './set-secret';

/** The search is hidden below this number of secrets. */
const SEARCH_MIN_ROWS = 8;

/** Lists the secrets of workers and automations: each name once, with its state on each surface. */
export default function SecretsPage() {
  useTitle('Secrets');
  const workspace = useWorkspace();
  const canEdit = hasRoleAtLeast(workspace?.role, 'admin');
  const queries = { workers: useSecrets('workers'), automations: useSecrets('automations') };
  const [search, setSearch] = useSearchParams();
  const [searchText, setSearchText] = useState('');
  const [secretToDelete, setSecretToDelete] = useState<SecretRow | null>(null);
  const isLoaded = SURFACES.every((surface) => queries[surface].data || queries[surface].error);
  const rows = joinSecrets(queries.workers.data, queries.automations.data);
  const matches = rows.filter(({ name }) => name.includes(searchText.trim().toUpperCase()));
  const requestedName = search.get('set');
  const openSetDialog = (name: string | null) => setSearch(name === null ? {} : { set: name }, { replace: true });

  return (
    <>
      <PageHead
        title="Secrets"
        about="Runs get them as environment variables. A value is encrypted when it is set, and cannot be read back."
        actions={canEdit && <Button onClick={() => openSetDialog('')}>New secret</Button>}
      />
      {SURFACES.map((surface) => {
        const { error, refetch } = queries[surface];
        return error && <FailedToLoad key={surface} what={`The secrets of ${surface}`} error={error} retry={refetch} />;
      })}
      <ResourceList
        what="The secrets"
        query={queries.workers}
        items={isLoaded ? rows : undefined}
        height={320}
        empty={
          <EmptyList title="No secrets yet">
            <p>
              {canEdit
                ? 'Set the first one here, and name it under “secrets” of a worker or “secrets_needed” of an automation.'
                : 'Admins and owners of this workspace can set them.'}
            </p>
          </EmptyList>
        }
      >
        {() => (
          <>
            {rows.length >= SEARCH_MIN_ROWS && (
              <TextInput
                maw="22rem"
                mb="md"
                aria-label="Search secrets"
                placeholder="Search by name"
                leftSection={<SearchIcon />}
                value={searchText}
                onChange={(event) => setSearchText(event.currentTarget.value)}
              />
            )}
            <div className="surface">
              <div className={styles.heads} aria-hidden="true">
                <span>Name</span>
                <span>Workers</span>
                <span>Automations</span>
              </div>
              <ul className="divided" aria-label="Secrets">
                {matches.map((row) => (
                  <SecretItem
                    key={row.name}
                    row={row}
                    canEdit={canEdit}
                    onSet={() => openSetDialog(row.name)}
                    onDelete={() => setSecretToDelete(row)}
                  />
                ))}
              </ul>
              {matches.length === 0 && (
                <Box component="p" p="16px 24px" c="dimmed">
                  No name contains “{searchText.trim()}”.
                </Box>
              )}
            </div>
          </>
        )}
      </ResourceList>
      {canEdit && isLoaded && requestedName !== null && (
        <SetSecretDialog
          key={requestedName}
          name={requestedName}
          row={rows.find(({ name }) => name === requestedName)}
          existingRows={rows}
          onClose={() => openSetDialog(null)}
        />
      )}
      {secretToDelete && <DeleteSecretDialog row={secretToDelete} onClose={() => setSecretToDelete(null)} />}
    </>
  );
}
