import { Box } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { NavLink, useLocation } from 'react-router';
import styles from './link-tabs.module.css';

interface LinkTabsProps {
  /** Names the whole for screen readers. */
  label: string;
  tabs: readonly Tab[];
}

interface Tab {
  to: string;
  label: string;
  count?: number;
  /** Whether it is also active for the pages below its address. */
  isOpenBelow?: boolean;
}

/** This much of the previous tab stays visible, to show that there is one. */
const NEIGHBOUR_PX = 48;

/** Tabs with an address each, so that links and the Back button work. */
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
      {tabs.map(({ to, label: name, count, isOpenBelow = false }) => (
        <NavLink key={to} to={to} end={!isOpenBelow} className={styles.tab}>
          {name}
          {count !== undefined && (
            <Box
              component="span"
              className="tabular-nums"
              p="0 0.4em"
              bdrs="1em"
              bg="var(--idle-wash)"
              c="dimmed"
              fz="xs"
            >
              {count}
            </Box>
          )}
        </NavLink>
      ))}
    </nav>
  );
}
