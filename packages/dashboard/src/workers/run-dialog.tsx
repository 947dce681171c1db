import { Box, Skeleton } from '@mantine/core';
import { Dialog } from '../ui/dialog';
import { LoadErrorNotice } from '../ui/notice';
import { RunForm } from './run-form';
import { useWorker } from './use-worker';

/** Shows the run form of a worker in a dialog over any page. */
export default function RunDialog({ workerId, onClose }: { workerId: string; onClose: () => void }) {
  const { data: worker, error, refetch } = useWorker(workerId);
  return (
    <Dialog title={`Run ${worker?.name ?? 'a worker'}`} onClose={onClose}>
      <Box p="lg">
        {worker ? (
          <RunForm worker={worker} />
        ) : error ? (
          <LoadErrorNotice what="The worker" error={error} retry={refetch} />
        ) : (
          <Skeleton height={120} />
        )}
      </Box>
    </Dialog>
  );
}
