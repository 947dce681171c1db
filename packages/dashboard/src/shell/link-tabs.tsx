import { useEffect, useRef } from 'react';
import { NavLink, useLocation } from 'react-router';
import styles from './link-tabs.module.css';

interface LinkTabsProps {
  /** Names the whole for screen readers. */
  label: string;
  tabs: readonly { to: string; label: string; count?: number }[];
}

/** This much of the previous tab stays visible, to show that there is one. */
const NEIGHBOUR_PX = 48;

/** Tabs with an address each, so that a link leads to one and Back leaves it. */
export function LinkTabs({ label, tabs }: LinkTabsProps) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // If the tabs are wider than the screen, the open one is scrolled into sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with the address, and only with it.
  useEffect(() => {
    const open = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && open) nav.current.scrollLeft = open.offsetLeft - nav.current.offsetLeft - NEIGHBOUR_PX;
  }, [pathname]);
  return (
    <nav ref={nav} aria-label={label} className={styles.tabs}>
      {tabs.map(({ to, label: name, count }) => (
        <NavLink key={to} to={to} end className={styles.tab}>
          {name}
          {count !== undefined && <span className={styles.count}>{count}</span>}
        </NavLink>
      ))}
    </nav>
  );
}
