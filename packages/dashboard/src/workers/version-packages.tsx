import { Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { api, type DependencyInstallation } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { DataTable } from '../ui/data-table';
import { formatCount, formatDuration } from '../ui/format';
import { CheckIcon, ClockIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { Meter } from '../ui/meter';
import { LoadErrorNotice, Notice } from '../ui/notice';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';
import type { Column } from '../ui/table-model';
import { Timestamp } from '../ui/timestamp';
import { workerKeys } from './use-worker';

type Status = DependencyInstallation['status'];
type Package = DependencyInstallation['packages'][number];

const LOOKS: Record<Exclude<Status, 'none'>, StatusDisplay> = {
  pending: { tone: 'idle', word: 'Waiting', icon: <ClockIcon /> },
  installing: { tone: 'running', word: 'Installing', icon: <WaitIcon /> },
  installed: { tone: 'success', word: 'Installed', icon: <CheckIcon /> },
  failed: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
};

const PHASES = { resolving: 'Resolving', downloading: 'Downloading', installing: 'Unpacking and compiling' };

const COLUMNS: Column<Package>[] = [
  { head: 'Package', cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    head: 'Version',
    cell: ({ version }) => (
      <Text span ff="monospace" fz="sm">
        {version}
      </Text>
    ),
  },
  {
    head: 'SHA-256',
    hidesBelow: 'narrow',
    cell: ({ sha256 }) => (
      <Text span ff="monospace" fz="xs" c="dimmed" title={sha256}>
        {sha256.slice(0, 16)}…
      </Text>
    ),
  },
];

/** Live events report each new state and phase, and no counts. */
const INSTALLING_REFETCH_MS = 2_000;

/** Loads how far the packages of a version are installed; live events load it again. */
export function useInstallation(workerId: string, sha: string, enabled = true) {
  const params = { path: { worker_id: workerId, sha } };
  return useWorkspaceQuery(
    (workspaceId) => workerKeys.part(workspaceId, workerId, 'dependencies', { sha }),
    async () => (await api.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params })).dependencies,
    {
      enabled,
      refetchInterval: ({ state }) => (state.data?.status === 'installing' ? INSTALLING_REFETCH_MS : false),
    },
  );
}

/** Shows the installation of a version's packages, and the packages once they are known. */
export function VersionPackages({ workerId, sha }: { workerId: string; sha: string }) {
  const { data, error, refetch } = useInstallation(workerId, sha);
  if (error && !data) return <LoadErrorNotice what="The packages" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={72} />;
  if (data.status === 'none') {
    return (
      <Text fz="sm" c="dimmed">
        This version doesn’t use any packages.
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      <InstallationStatus installation={data} />
      {data.packages.length > 0 && (
        <DataTable
          label="Packages in this version"
          isCard
          columns={COLUMNS}
          rows={data.packages}
          getKey={({ name }) => name}
          pageSize={50}
          search={{
            label: 'Search packages',
            placeholder: 'Search by name',
            getText: ({ name }) => name,
            none: 'No matching packages.',
          }}
        />
      )}
    </Stack>
  );
}

/** Shows state, progress and error in a few lines. */
export function InstallationStatus({ installation }: { installation: DependencyInstallation }) {
  const { status, progress, error } = installation;
  if (status === 'none') return null;
  if (status === 'failed') {
    return (
      <Notice tone="error" title="Package installation failed">
        {error}
      </Notice>
    );
  }
  return (
    <Box role="status" miw={0}>
      <Group gap="sm">
        <StatusChip {...LOOKS[status]} />
        <Text className="wrap-anywhere" fz="sm" c="dimmed">
          <StatusDetail installation={installation} />
        </Text>
      </Group>
      {status === 'installing' && progress?.total ? (
        <Meter mt="sm" tone="accent" share={(progress.done ?? 0) / progress.total} />
      ) : null}
    </Box>
  );
}

function StatusDetail({ installation }: { installation: DependencyInstallation }) {
  const { status, progress, packages, platform, started_at: startedAt, finished_at: finishedAt } = installation;
  if (status === 'pending') return 'No executor has started yet. The first run installs any missing packages.';
  if (status === 'installing') {
    if (!progress) return 'Installing packages…';
    const { phase, done, total } = progress;
    return total === null ? `${PHASES[phase]}…` : `${PHASES[phase]}: ${done ?? 0} of ${formatCount(total, 'package')}`;
  }
  const took = startedAt && finishedAt ? formatDuration(Date.parse(finishedAt) - Date.parse(startedAt)) : null;
  return (
    <>
      {packages.length ? formatCount(packages.length, 'package') : 'Packages'}
      {platform && ` for ${platform}`}
      {took && ` in ${took}`}
      {finishedAt && (
        <>
          , <Timestamp at={Date.parse(finishedAt)} />
        </>
      )}
    </>
  );
}
