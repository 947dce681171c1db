import type { ReactNode } from 'react';
import styles from './empty.module.css';

/** Stands where there is nothing yet: says so, and what to do next. */
export function Empty({ title, level = 3, children }: { title: string; level?: 1 | 2 | 3; children: ReactNode }) {
  const Heading = `h${level}` as const;
  return (
    <div className={styles.empty}>
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}
