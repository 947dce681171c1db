import { Box, Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Worker } from '../shell/api';
import { Notice } from '../ui/notice';

const ApproveVersionDialog = lazy(() => import('./approve-version-dialog'));

/** Shows that an agent's code needs approval, with a button to review it. */
export function PendingVersionNotice({ worker }: { worker: Worker }) {
  const [isOpen, setOpen] = useState(false);
  if (worker.version_approval?.status !== 'waiting') return null;
  return (
    <Box mb="lg">
      <Notice
        tone="error"
        title={`Version ${worker.version} is waiting for your approval`}
        action={<Button onClick={() => setOpen(true)}>Review code</Button>}
      >
        This version was written by an agent. Until a person approves the version, it runs without secrets, connections,
        network access or new packages.
      </Notice>
      {isOpen && (
        <Suspense>
          <ApproveVersionDialog worker={worker} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Box>
  );
}
