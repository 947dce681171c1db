import { NavLink } from 'react-router';
import styles from './link-tabs.module.css';

interface LinkTabsProps {
  /** Names the whole for screen readers. */
  label: string;
  tabs: readonly { to: string; label: string; count?: number }[];
}

/** Tabs with an address each, so that a link leads to one and Back leaves it. */
export function LinkTabs({ label, tabs }: LinkTabsProps) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(({ to, label: name, count }) => (
        <NavLink key={to} to={to} end className={styles.tab}>
          {name}
          {count !== undefined && <span className={styles.count}>{count}</span>}
        </NavLink>
      ))}
    </nav>
  );
}
