import { Box } from '@mantine/core';
import type { Page } from '../../shell/api';
import { type Explanation, Notice } from '../../ui/notice';

/** Explains why a run is impossible or would fail, and who can change that. Renders nothing where it would work. */
export function CannotRunNotice({ page }: { page: Page }) {
  const explanation = explainProblem(page);
  return (
    explanation && (
      <Box mb="lg">
        <Notice tone="info" {...explanation} />
      </Box>
    )
  );
}

function explainProblem({ status, missingSecrets: missing = [], canRun }: Page): Explanation | null {
  if (status !== 'active') {
    return {
      title: `This automation is ${status}`,
      children: 'A member must reactivate the automation before it can run again. Past runs are kept.',
    };
  }
  if (missing.length > 0) {
    return {
      title: missing.length === 1 ? 'Missing secret' : 'Missing secrets',
      children: `Runs will fail until a workspace admin sets ${missing.join(', ')}.`,
    };
  }
  if (canRun) return null;
  return {
    title: 'You can view this automation but not run it',
    children: 'You’re a viewer in this workspace. Ask an admin to make you a member.',
  };
}
