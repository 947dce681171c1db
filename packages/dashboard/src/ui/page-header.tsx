import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageHeaderProps {
  title: ReactNode;
  /** A sentence or some facts below the title. */
  about?: ReactNode;
  /** Buttons; the most important one last. */
  actions?: ReactNode;
}

/** Shows the heading of a page and its actions. */
export function PageHeader({ title, about, actions }: PageHeaderProps) {
  return (
    <Group gap="12px 24px" align="flex-end" justify="space-between" mb="lg">
      <Stack gap="xs" miw={0} maw="68ch">
        <h1>{title}</h1>
        {about && (
          <Group gap="8px 12px" fz="sm" c="dimmed">
            {about}
          </Group>
        )}
      </Stack>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
