import type { ReactNode } from 'react';
import { useId } from 'react';
import styles from './panel.module.css';

interface PanelProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of a page: a named region that hangs from its own beam. */
export function Panel({ title, aside, children }: PanelProps) {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.head}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      <div className={styles.body}>{children}</div>
    </section>
  );
}
