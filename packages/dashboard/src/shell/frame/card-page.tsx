import type { ReactNode } from 'react';
import { Brand } from './brand';
import styles from './card-page.module.css';
import { ColorSchemeSwitch } from './color-scheme-switch';

/** A page of one card, for a person who is not signed in yet. */
export function CardPage({ children }: { children: ReactNode }) {
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <Brand />
        <ColorSchemeSwitch />
      </header>
      <main className={styles.main}>{children}</main>
    </div>
  );
}
