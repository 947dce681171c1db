import { Box, Group, Stack } from '@mantine/core';
import { Dialog } from '../../ui/dialog';
import { useShortcutGroups } from '../shortcuts';

/** Lists the keyboard shortcuts of this page; its own come first. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const groups = [...useShortcutGroups()].reverse();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Stack gap="lg" p="16px 24px 24px">
        {groups.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <Box component="dl" mt="xs" fz="sm" style={{ columns: '2 14rem', columnGap: 'var(--space-5)' }}>
              {title === 'General' && <ShortcutRow keys="Ctrl K" description="Search or go to a page" />}
              {shortcuts.map(({ keys, description }) => (
                <ShortcutRow key={keys} keys={keys} description={description} />
              ))}
            </Box>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}

function ShortcutRow({ keys, description }: { keys: string; description: string }) {
  return (
    <Group gap="sm" wrap="nowrap" py={4} style={{ breakInside: 'avoid' }}>
      <Group component="dt" gap={2} align="stretch" wrap="nowrap" flex="none" miw="4rem">
        {keys.split(' ').map((key) => (
          <Box component="kbd" key={key} miw="1.5rem" ta="center">
            {key}
          </Box>
        ))}
      </Group>
      <dd>{description}</dd>
    </Group>
  );
}
