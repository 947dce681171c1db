import { Box } from '@mantine/core';
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
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      <div className={styles.body}>{children}</div>
    </Box>
  );
}
