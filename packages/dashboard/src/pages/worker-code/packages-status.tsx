import { Box } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { InstallationStatus, useInstallation } from '../../workers/version-packages';

/** Shows the packages of the current version until they are installed, and why they are not. */
export function PackagesStatus({ worker }: { worker: Worker }) {
  const { data } = useInstallation(worker.id, worker.sha, worker.python_dependencies.length > 0);
  if (!data || data.status === 'none' || data.status === 'installed') return null;
  return (
    <Box mb="md">
      <InstallationStatus installation={data} />
    </Box>
  );
}
