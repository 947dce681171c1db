import { Box, Group } from '@mantine/core';
import { Link, useLocation } from 'react-router';
import { usePageTitle } from '../use-title';
import { findSection } from './sections';
import styles from './trail.module.css';

/** Shows the page's section, the pages in between, and the page itself. */
export function Breadcrumbs() {
  const { pathname } = useLocation();
  const { title, ancestors } = usePageTitle();
  const section = findSection(pathname);
  const links = [
    ...(section && section.label !== title ? [{ to: section.path, label: section.label }] : []),
    ...ancestors,
  ];
  return (
    <Box component="nav" aria-label="Breadcrumb" className={styles.trail} flex="1 1 auto" miw={0} fz="sm">
      <Group component="ol" gap={0} wrap="nowrap" miw={0} align="stretch">
        {links.map(({ to, label }) => (
          <li key={to} className={`${styles.above} hidden-narrow`}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
        {title && (
          <Box component="li" aria-current="page" p="8px 0" fw={600}>
            {title}
          </Box>
        )}
      </Group>
    </Box>
  );
}
