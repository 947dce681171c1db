import { unwrap } from '@gantry/api-client';
import { Button, Modal, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Page, type Version } from '../api';
import { FailedToLoad, Notice } from '../layout/notice';
import { Timestamp } from '../layout/timestamp';
import { pageKey } from './page-key';
import styles from './versions.module.css';

export function Versions({ page }: { page: Page }) {
  const [chosen, setChosen] = useState<Version | null>(null);
  const [done, setDone] = useState('');
  const { data, error, isError, refetch } = useQuery({
    queryKey: [...pageKey(page.id), 'versions'],
    queryFn: () =>
      unwrap(api.GET('/api/automations/{automationId}/versions', { params: { path: { automationId: page.id } } })),
  });
  if (isError && !data) return <FailedToLoad what="The versions" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={96} />;
  return (
    <>
      <ol className={styles.list} reversed>
        {data.versions.map((version) => (
          <li key={version.version} className={styles.row} aria-current={version.current || undefined}>
            <div className={styles.what}>
              <span className={styles.number}>Version {version.version}</span>
              <span className={styles.when}>
                <Timestamp at={version.createdAt} />
              </span>
              {version.message && <p className={styles.message}>{version.message}</p>}
            </div>
            {version.current ? (
              <span className={styles.current}>Current</span>
            ) : (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Roll back to version ${version.version}`}
                onClick={() => setChosen(version)}
              >
                Roll back
              </Button>
            )}
          </li>
        ))}
      </ol>
      <p className="visually-hidden" role="status">
        {done}
      </p>
      <Rollback
        page={page}
        chosen={chosen}
        onClose={() => setChosen(null)}
        onDone={(version) => setDone(`Version ${version} is current now.`)}
      />
    </>
  );
}

interface RollbackProps {
  page: Page;
  chosen: Version | null;
  onClose: () => void;
  onDone: (version: number) => void;
}

function Rollback({ page, chosen, onClose, onDone }: RollbackProps) {
  const queryClient = useQueryClient();
  const rollback = useMutation({
    mutationFn: (version: number) =>
      unwrap(
        api.POST('/api/automations/{automationId}/rollback', {
          params: { path: { automationId: page.id } },
          body: { version },
        }),
      ),
    onSuccess: async (_, version) => {
      await queryClient.invalidateQueries({ queryKey: pageKey(page.id) });
      onDone(version);
      onClose();
    },
  });
  const close = () => {
    rollback.reset();
    onClose();
  };
  return (
    <Modal
      opened={chosen !== null}
      onClose={close}
      title={`Roll back to version ${chosen?.version ?? ''}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className={styles.dialog}>
        <p>
          New runs will use version {chosen?.version} instead of {page.currentVersion}. Runs that have started keep the
          version they began with, and you can come back to version {page.currentVersion} in the same way.
        </p>
        {rollback.error && (
          <Notice tone="error" title="Nothing was changed">
            {rollback.error.message}
          </Notice>
        )}
        <div className={styles.answer}>
          <Button variant="default" onClick={close}>
            Keep version {page.currentVersion}
          </Button>
          <Button loading={rollback.isPending} onClick={() => chosen && rollback.mutate(chosen.version)}>
            Roll back
          </Button>
        </div>
      </div>
    </Modal>
  );
}
