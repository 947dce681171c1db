import { Box, Group } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import styles from './copyable-code.module.css';
import { CheckIcon, CopyIcon } from './icons';

export function CopyableCode({ label, code }: { label: string; code: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <Box
      component="figure"
      w="100%"
      bd="1px solid var(--line)"
      bdrs={6}
      bg="var(--sunken)"
      style={{ overflow: 'hidden' }}
    >
      <Group
        component="figcaption"
        gap={0}
        justify="space-between"
        wrap="nowrap"
        p="4px 4px 4px 12px"
        fz="xs"
        c="dimmed"
        style={{ borderBottom: '1px solid var(--line)' }}
      >
        <span>{label}</span>
        <button type="button" className={styles.copy} onClick={() => clipboard.copy(code)}>
          {clipboard.copied ? <CheckIcon /> : <CopyIcon />}
          <span aria-live="polite">{clipboard.copied ? 'Copied' : 'Copy'}</span>
        </button>
      </Group>
      <Box
        component="pre"
        p="sm"
        fz="xs"
        lh={1.6}
        c="bright"
        style={{ overflowX: 'auto', outlineOffset: -2 }}
        tabIndex={0}
      >
        <code>{code}</code>
      </Box>
    </Box>
  );
}
