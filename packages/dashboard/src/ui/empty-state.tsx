import { Box, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './empty-state.module.css';

/** Shows an empty state and what to do next. */
export function EmptyState({ title, level = 3, children }: { title: string; level?: 1 | 2 | 3; children: ReactNode }) {
  const Heading = `h${level}` as const;
  return (
    <Stack className={styles.empty} gap="sm" c="dimmed" miw={0}>
      <Box component={Heading} c="bright">
        {title}
      </Box>
      {children}
    </Stack>
  );
}
