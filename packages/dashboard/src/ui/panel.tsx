import { Box, Group } from '@mantine/core';
import type { ReactNode, Ref } from 'react';
import { useId } from 'react';
import styles from './panel.module.css';

interface PanelProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
}

/** A named region of a page with a heading. */
export function Panel({ title, aside, children, ref }: PanelProps) {
  const id = useId();
  return (
    <Box component="section" ref={ref} className="surface" miw={0} aria-labelledby={id}>
      <Group className={styles.head} gap="sm" justify="space-between" wrap="nowrap" mih="3.25rem">
        <h2 id={id}>{title}</h2>
        {aside}
      </Group>
      <div className={styles.body}>{children}</div>
    </Box>
  );
}
