import { Box, Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface SelectionBarProps {
  /** Names the toolbar. */
  label: string;
  /** Says the number of selected rows. */
  count: string;
  onClear: () => void;
  /** The actions on the selected rows. */
  children: ReactNode;
}

/** Shows the actions on the selected rows of a list, above it. */
export const SelectionBar = ({ label, count, onClear, children }: SelectionBarProps) => (
  <Group
    className="surface"
    pos="sticky"
    top="var(--space-2)"
    gap="xs"
    mb="sm"
    p="8px 8px 8px 16px"
    fz="sm"
    style={{ zIndex: 2, borderColor: 'var(--accent)' }}
    role="toolbar"
    aria-label={label}
  >
    <Box component="p" me="auto" fw={600} role="status">
      {count}
    </Box>
    {children}
    <Button variant="subtle" onClick={onClear}>
      Clear selection
    </Button>
  </Group>
);
