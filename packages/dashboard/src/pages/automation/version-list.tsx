import { Box, Button, Group, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Page, Version } from '../../shell/api';
import { LoadErrorNotice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';
import { useAutomationVersions } from './use-automation-page';

const RollbackDialog = lazy(() => import('./rollback-dialog'));

export function VersionList({ page }: { page: Page }) {
  const [rollbackVersion, setRollbackVersion] = useState<Version | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const opener = useRef<HTMLElement>(null);
  const { data, error, isError, refetch } = useAutomationVersions(page.id);

  /** Returns the focus to the button, or to the list if the button is gone because its version is current now. */
  function close() {
    flushSync(() => setRollbackVersion(null));
    (opener.current?.isConnected ? opener : list).current?.focus();
  }

  // Only a viewer can't run an active automation.
  const canRollBack = page.canRun || page.status !== 'active';
  if (isError && !data) return <LoadErrorNotice what="The versions" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={96} />;
  return (
    <>
      <Box component="ol" ref={list} className="divided" my="calc(-1 * var(--space-3))" reversed tabIndex={-1}>
        {data.versions.map((version) => (
          <Group
            component="li"
            key={version.version}
            gap="sm"
            justify="space-between"
            wrap="nowrap"
            py="sm"
            aria-current={version.current || undefined}
          >
            <Box miw={0}>
              <Text span fw={640}>
                Version {version.version}
              </Text>
              <Text span ml="xs" fz="xs" c="dimmed">
                <Timestamp at={version.createdAt} />
              </Text>
              {version.message && (
                <Text className="wrap-anywhere" fz="sm" c="dimmed">
                  {version.message}
                </Text>
              )}
            </Box>
            {version.current ? (
              <Text span fz="xs" fw={600} c="var(--accent)">
                Current
              </Text>
            ) : (
              canRollBack && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Roll back to version ${version.version}`}
                  onClick={(event) => {
                    opener.current = event.currentTarget;
                    setRollbackVersion(version);
                  }}
                >
                  Roll back
                </Button>
              )
            )}
          </Group>
        ))}
      </Box>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
      {rollbackVersion && (
        <Suspense>
          <RollbackDialog
            page={page}
            version={rollbackVersion.version}
            onClose={close}
            onDone={() => setAnnouncement(`Rolled back to version ${rollbackVersion.version}`)}
          />
        </Suspense>
      )}
    </>
  );
}
