import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Brand } from './brand';
import { ColorSchemeSwitch } from './color-scheme-switch';

/** Renders a page of one card for visitors who are not signed in yet. */
export function CardPage({ children }: { children: ReactNode }) {
  return (
    <Stack gap={0} flex={1} style={{ overflowX: 'clip' }}>
      <Group
        component="header"
        gap={0}
        justify="space-between"
        wrap="nowrap"
        w="min(100%, var(--page))"
        mx="auto"
        p="12px 16px"
      >
        <Brand />
        <ColorSchemeSwitch />
      </Group>
      <Stack
        component="main"
        flex={1}
        gap={0}
        align="center"
        p="clamp(var(--space-5), 12vh, 9rem) var(--space-4) var(--space-7)"
      >
        {children}
      </Stack>
    </Stack>
  );
}
