import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { useTitle } from '../shell/use-title';
import styles from '../ui/panel-content.module.css';

const PAGES = [
  ['/settings/members', 'Members'],
  ['/settings/tokens', 'Tokens'],
  ['/settings/audit-log', 'Audit log'],
  ['/settings/workspace', 'Workspace'],
  ['/settings/account', 'Account'],
] as const;

export function SettingsFrame({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <>
      <nav aria-label="Settings" className={styles.nav}>
        {PAGES.map(([path, label]) => (
          <NavLink key={path} to={path} className={styles.navLink}>
            {label}
          </NavLink>
        ))}
      </nav>
      <h1 className={styles.title}>{title}</h1>
      <div className={styles.panels}>{children}</div>
    </>
  );
}
