import { Box, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { roleAtLeast } from '../../accounts/roles';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { SearchIcon } from '../../ui/icons';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { EmptyList, ResourceList } from '../../ui/resource-list';
import { DeleteSecret } from './delete-secret';
import { SecretItem } from './secret-item';
import { useSecrets } from './secret-queries';
import { joinSecrets, type SecretRow, SURFACES } from './secret-rows';
import styles from './secrets-page.module.css';
import { SetSecret } from './set-secret';

/** The search is hidden below this number of secrets. */
const SEARCHED_FROM = 8;

/** Lists the secrets of workers and automations: each name once, with its state on each surface. */
export default function SecretsPage() {
  useTitle('Secrets');
  const workspace = useWorkspace();
  const mayChange = roleAtLeast(workspace?.role, 'admin');
  const there = { workers: useSecrets('workers'), automations: useSecrets('automations') };
  const [search, setSearch] = useSearchParams();
  const [sought, setSought] = useState('');
  const [deleted, setDeleted] = useState<SecretRow | null>(null);
  const isKnown = SURFACES.every((surface) => there[surface].data || there[surface].error);
  const rows = joinSecrets(there.workers.data, there.automations.data);
  const shown = rows.filter(({ name }) => name.includes(sought.trim().toUpperCase()));
  const named = search.get('set');
  const set = (name: string | null) => setSearch(name === null ? {} : { set: name }, { replace: true });

  return (
    <>
      <PageHead
        title="Secrets"
        about="Runs get them as environment variables. A value is encrypted when it is set, and cannot be read back."
        actions={mayChange && <Button onClick={() => set('')}>New secret</Button>}
      />
      {SURFACES.map((surface) => {
        const { error, refetch } = there[surface];
        return error && <FailedToLoad key={surface} what={`The secrets of ${surface}`} error={error} retry={refetch} />;
      })}
      <ResourceList
        what="The secrets"
        query={there.workers}
        items={isKnown ? rows : undefined}
        height={320}
        empty={
          <EmptyList title="No secrets yet">
            <p>
              {mayChange
                ? 'Set the first one here, and name it under “secrets” of a worker or “secrets_needed” of an automation.'
                : 'Admins and owners of this workspace can set them.'}
            </p>
          </EmptyList>
        }
      >
        {() => (
          <>
            {rows.length >= SEARCHED_FROM && (
              <TextInput
                maw="22rem"
                mb="md"
                aria-label="Search secrets"
                placeholder="Search by name"
                leftSection={<SearchIcon />}
                value={sought}
                onChange={(event) => setSought(event.currentTarget.value)}
              />
            )}
            <div className="surface">
              <div className={styles.heads} aria-hidden="true">
                <span>Name</span>
                <span>Workers</span>
                <span>Automations</span>
              </div>
              <ul className="divided" aria-label="Secrets">
                {shown.map((row) => (
                  <SecretItem
                    key={row.name}
                    row={row}
                    mayChange={mayChange}
                    onSet={() => set(row.name)}
                    onDelete={() => setDeleted(row)}
                  />
                ))}
              </ul>
              {shown.length === 0 && (
                <Box component="p" p="16px 24px" c="dimmed">
                  No name contains “{sought.trim()}”.
                </Box>
              )}
            </div>
          </>
        )}
      </ResourceList>
      {mayChange && isKnown && named !== null && (
        <SetSecret
          key={named}
          name={named}
          row={rows.find(({ name }) => name === named)}
          taken={rows}
          onClose={() => set(null)}
        />
      )}
      {deleted && <DeleteSecret row={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}
