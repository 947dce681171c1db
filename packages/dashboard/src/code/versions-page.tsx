import { Box, Button, Center, Group, NativeSelect, Stack } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { getComparedVersions, setComparedVersions } from '../shell/paths';
import { toast } from '../shell/toasts';
import type { usePagedQuery } from '../shell/use-paged-query';
import { Columns } from '../ui/columns';
import { ResourceList } from '../ui/resource-list';
import { type ListedVersion, VersionList } from './version-list';
import { VersionRollbackDialog } from './version-rollback-dialog';

interface VersionsViewProps {
  /** The worker or context; `sha` of its current version. */
  resource: { name: string; sha: string };
  /** Creates a new version equal to this one. Absent: the member may not. */
  rollBackTo: ((sha: string, message: string | undefined) => Promise<void>) | undefined;
  /** Compares two versions; null: with nothing. */
  compare: (from: ListedVersion | null, to: ListedVersion) => ReactNode;
}

interface VersionsPageProps<Version> extends VersionsViewProps {
  query: ReturnType<typeof usePagedQuery<Version>>;
  toListed: (version: Version) => ListedVersion;
}

/** Shows the version history of a worker or a context. */
export function VersionsPage<Version>({ query, toListed, ...view }: VersionsPageProps<Version>) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <ResourceList what="The versions" query={{ error, refetch }} items={data} height={360}>
      {(versions) => (
        <VersionsView versions={versions.map(toListed)} {...view}>
          {hasNextPage && (
            <Center p="sm" style={{ borderTop: '1px solid var(--line)' }}>
              <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
                Show older versions
              </Button>
            </Center>
          )}
        </VersionsView>
      )}
    </ResourceList>
  );
}

interface LoadedVersionsProps extends VersionsViewProps {
  versions: ListedVersion[];
  /** Below the list. */
  children: ReactNode;
}

/** Shows versions, and the differences between any two of them; a rollback can be undone. */
function VersionsView({ versions, resource, rollBackTo, compare, children }: LoadedVersionsProps) {
  const [search, setSearch] = useSearchParams();
  const [rollbackTarget, setRollbackTarget] = useState<ListedVersion | null>(null);
  const comparison = useRef<HTMLDivElement>(null);
  const findVersion = (number: number | null) => versions.find(({ version }) => version === number);
  const requested = getComparedVersions(search);
  const to = findVersion(requested.to) ?? versions[0];
  const before = to && versions[versions.indexOf(to) + 1];
  const from = requested.from === 0 ? null : (findVersion(requested.from) ?? before ?? null);
  const showComparison = (next: { from: number; to: number }) =>
    setSearch((now) => setComparedVersions(now, next.from, next.to), { replace: true });

  async function rollBack({ version, sha }: ListedVersion, message: string | undefined) {
    if (!rollBackTo) return;
    const previousSha = resource.sha;
    await rollBackTo(sha, message);
    toast(`Rolled ${resource.name} back to version ${version}`, {
      undo: () =>
        void rollBackTo(previousSha, undefined).catch((failure: Error) =>
          toast(`Couldn’t undo rollback: ${failure.message}`, { tone: 'error' }),
        ),
    });
  }

  if (!to) return null;
  return (
    <Columns widths="minmax(17rem, 21rem) minmax(0, 1fr)">
      <Box className="surface" style={{ overflow: 'hidden' }}>
        <VersionList
          versions={versions}
          shown={to.version}
          onShow={(version) => {
            const earlier = versions[versions.indexOf(version) + 1];
            showComparison({ from: earlier?.version ?? 0, to: version.version });
            // On a phone they are below the list.
            comparison.current?.scrollIntoView({ block: 'nearest' });
          }}
          {...(rollBackTo && { onRollBack: setRollbackTarget })}
        />
        {children}
      </Box>
      <Stack component="section" ref={comparison} gap="lg" miw={0} aria-label="Version comparison">
        <Group gap="sm" align="flex-end">
          <Box component="h2" fz="md" style={{ flexBasis: '100%' }}>
            Changes
          </Box>
          <NativeSelect
            label="From"
            size="sm"
            value={String(from?.version ?? 0)}
            onChange={(event) => showComparison({ from: Number(event.currentTarget.value), to: to.version })}
            data={[...versions.map(toVersionOption), { value: '0', label: 'Empty' }]}
          />
          <NativeSelect
            label="To"
            size="sm"
            value={String(to.version)}
            onChange={(event) => showComparison({ from: from?.version ?? 0, to: Number(event.currentTarget.value) })}
            data={versions.map(toVersionOption)}
          />
        </Group>
        {compare(from, to)}
      </Stack>
      {rollbackTarget && rollBackTo && (
        <VersionRollbackDialog
          version={rollbackTarget.version}
          current={versions.find(({ current }) => current)?.version}
          onRollBack={(message) => rollBack(rollbackTarget, message)}
          onClose={() => setRollbackTarget(null)}
        />
      )}
    </Columns>
  );
}

const toVersionOption = ({ version, current }: ListedVersion) => ({
  value: String(version),
  label: current ? `Version ${version} (current)` : `Version ${version}`,
});
