import { Box } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import styles from './code-to-copy.module.css';
import { CheckIcon, CopyIcon } from './icons';

export function CodeToCopy({ label, code }: { label: string; code: string }) {
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
      <figcaption className={styles.caption}>
        <span>{label}</span>
        <button type="button" className={styles.copy} onClick={() => clipboard.copy(code)}>
          {clipboard.copied ? <CheckIcon /> : <CopyIcon />}
          <span aria-live="polite">{clipboard.copied ? 'Copied' : 'Copy'}</span>
        </button>
      </figcaption>
      <Box
        component="pre"
        className={styles.code}
        p="sm"
        fz="xs"
        lh={1.6}
        c="bright"
        style={{ overflowX: 'auto' }}
        tabIndex={0}
      >
        <code>{code}</code>
      </Box>
    </Box>
  );
}
