import { Box } from '@mantine/core';
import type { Page } from '../../shell/api';
import { Notice } from '../../ui/notice';

/** Explains why a run is impossible or would fail, and who can change that. Renders nothing where it would work. */
export function CannotRunNotice({ page }: { page: Page }) {
  const missing = page.missingSecrets ?? [];
  if (page.status !== 'active') {
    return (
      <Box mb="lg">
        <Notice tone="info" title={`This automation is ${page.status}`}>
          It can’t run until a member reactivates it. Past runs are kept.
        </Notice>
      </Box>
    );
  }
  if (missing.length > 0) {
    return (
      <Box mb="lg">
        <Notice tone="info" title={missing.length === 1 ? 'A secret is missing' : 'Secrets are missing'}>
          {`Runs will fail until an admin of the workspace sets ${missing.join(', ')}.`}
        </Notice>
      </Box>
    );
  }
  return page.canRun ? null : (
    <Box mb="lg">
      <Notice tone="info" title="You can view this but not run it">
        Your role in this workspace is viewer. Ask an admin to make you a member.
      </Notice>
    </Box>
  );
}
