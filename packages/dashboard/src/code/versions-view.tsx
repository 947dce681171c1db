import { Box, Button, Group, NativeSelect, Stack } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { getComparedVersions, setComparedVersions } from '../shell/paths';
import { Columns } from '../ui/columns';
import { type ListedVersion, VersionList } from './version-list';
import { VersionRollbackDialog } from './version-rollback-dialog';

interface VersionsViewProps<Version extends ListedVersion> {
  versions: Version[];
  /** Present where older versions are not loaded yet. */
  more?: { isLoading: boolean; load: () => void } | undefined;
  /** Rolls back to that version. Absent: not allowed. */
  rollBack?: ((version: Version, message: string | undefined) => Promise<void>) | undefined;
  /** Compares two versions; null: with nothing. */
  compare: (from: Version | null, to: Version) => ReactNode;
}

/** Shows the version history of files, and the differences between any two versions. */
export function VersionsView<Version extends ListedVersion>({
  versions,
  more,
  rollBack,
  compare,
}: VersionsViewProps<Version>) {
  const [search, setSearch] = useSearchParams();
  const [rollbackTarget, setRollbackTarget] = useState<Version | null>(null);
  const comparison = useRef<HTMLDivElement>(null);
  const findVersion = (number: number | null) => versions.find(({ version }) => version === number);
  const requested = getComparedVersions(search);
  const to = findVersion(requested.to) ?? versions[0];
  const before = to && versions[versions.indexOf(to) + 1];
  const from = requested.from === 0 ? null : (findVersion(requested.from) ?? before ?? null);
  const showComparison = (next: { from: number; to: number }) =>
    setSearch((now) => setComparedVersions(now, next.from, next.to), { replace: true });
  if (!to) return null;
  return (
    <Columns widths="minmax(17rem, 21rem) minmax(0, 1fr)">
      <Box className="surface" style={{ overflow: 'hidden' }}>
        <VersionList
          versions={versions}
          shown={to.version}
          onShow={(version) => {
            const earlier = versions[versions.indexOf(version as Version) + 1];
            showComparison({ from: earlier?.version ?? 0, to: version.version });
            // On a phone they are below the list.
            comparison.current?.scrollIntoView({ block: 'nearest' });
          }}
          {...(rollBack && { onRollBack: (version) => setRollbackTarget(version as Version) })}
        />
        {more && (
          <Group
            gap={0}
            align="stretch"
            justify="center"
            wrap="nowrap"
            p="sm"
            style={{ borderTop: '1px solid var(--line)' }}
          >
            <Button variant="default" loading={more.isLoading} onClick={more.load}>
              Show older versions
            </Button>
          </Group>
        )}
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
      {rollbackTarget && rollBack && (
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
