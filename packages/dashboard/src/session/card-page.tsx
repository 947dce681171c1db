import type { ReactNode } from 'react';
import { Brand } from '../layout/brand';
import { ColorSchemeSwitch } from '../layout/color-scheme-switch';
import styles from './sign-in-page.module.css';

/** A page of one card, for who is not signed in yet. */
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
