import { Box, Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface SettingActionProps {
  title: string;
  about: string;
  /** Its button. */
  children: ReactNode;
}

/** Explains a change that a button makes at once. */
export const SettingAction = ({ title, about, children }: SettingActionProps) => (
  <Group gap="12px 24px" justify="space-between">
    <Box flex="1 1 18rem">
      <Box component="h3" fz="md">
        {title}
      </Box>
      <p className="help-text">{about}</p>
    </Box>
    {children}
  </Group>
);
