import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { paths } from '../shell/paths';
import { useTitle } from '../shell/use-title';
import styles from './settings-frame.module.css';

const PAGES = [
  [paths.members, 'Members'],
  [paths.tokens, 'Tokens'],
  [paths.auditLog, 'Audit log'],
  [paths.workspace, 'Workspace'],
  [paths.account, 'Account'],
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
