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
          A member must reactivate the automation before it can run again. Past runs are kept.
        </Notice>
      </Box>
    );
  }
  if (missing.length > 0) {
    return (
      <Box mb="lg">
        <Notice tone="info" title={missing.length === 1 ? 'Missing secret' : 'Missing secrets'}>
          {`Runs will fail until a workspace admin sets ${missing.join(', ')}.`}
        </Notice>
      </Box>
    );
  }
  return page.canRun ? null : (
    <Box mb="lg">
      <Notice tone="info" title="You can view this automation but not run it">
        You’re a viewer in this workspace. Ask an admin to make you a member.
      </Notice>
    </Box>
  );
}
