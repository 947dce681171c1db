import { Box, Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Worker } from '../shell/api';
import { Notice } from '../ui/notice';

const ApproveVersion = lazy(() => import('./approve-version'));

/** Says that a person has to approve what an agent wrote, with a button to read and approve it. */
export function WaitingVersion({ worker }: { worker: Worker }) {
  const [isOpen, setOpen] = useState(false);
  if (worker.version_approval?.status !== 'waiting') return null;
  return (
    <Box mb="lg">
      <Notice
        tone="error"
        title={`Version ${worker.version} waits for your approval`}
        action={<Button onClick={() => setOpen(true)}>Read its code</Button>}
      >
        An agent wrote it. It does not run with secrets, connections or network before a person has approved it.
      </Notice>
      {isOpen && (
        <Suspense>
          <ApproveVersion worker={worker} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Box>
  );
}
