import { Stack } from '@mantine/core';
import { Link, useLocation } from 'react-router';
import { CollapseIcon, DocsIcon, ExpandIcon } from '../../ui/icons';
import { DOCS_URL, paths } from '../paths';
import { usePendingApprovalCount } from '../use-pending-approval-count';
import styles from './navigation.module.css';
import { findSection, SECTIONS, type Section } from './sections';

interface NavigationProps {
  isCollapsed?: boolean;
  /** Absent, as in the drawer: the navigation can't be made narrow. */
  onCollapse?: () => void;
}

export function Navigation({ isCollapsed = false, onCollapse }: NavigationProps) {
  const { pathname } = useLocation();
  const currentSection = findSection(pathname);
  const last = SECTIONS.length - 1;
  return (
    <Stack
      component="nav"
      aria-label="Main"
      className={styles.nav}
      gap="xs"
      flex={1}
      mih={0}
      p="8px 12px 12px"
      style={{ overflowY: 'auto' }}
      data-narrow={isCollapsed}
    >
      {SECTIONS.map((sections, group) => (
        <ul key={sections[0]?.path} className={styles.group} data-last={group === last}>
          {sections.map((section) => (
            <li key={section.path}>
              <SectionLink section={section} isCurrent={section === currentSection} isCollapsed={isCollapsed} />
            </li>
          ))}
          {group === last && (
            <li>
              <DocsLink isCollapsed={isCollapsed} />
            </li>
          )}
        </ul>
      ))}
      {onCollapse && (
        <button type="button" className={`menu-row ${styles.narrow}`} aria-expanded={!isCollapsed} onClick={onCollapse}>
          {isCollapsed ? <ExpandIcon /> : <CollapseIcon />}
          <span className={isCollapsed ? 'visually-hidden' : undefined}>
            {isCollapsed ? 'Expand navigation' : 'Collapse'}
          </span>
        </button>
      )}
    </Stack>
  );
}

function SectionLink({
  section,
  isCurrent: isHere,
  isCollapsed,
}: {
  section: Section;
  isCurrent: boolean;
  isCollapsed: boolean;
}) {
  const { path, label, Icon } = section;
  return (
    <Link
      to={path}
      className={`menu-row ${styles.link}`}
      aria-current={isHere ? 'page' : undefined}
      data-here={isHere}
      title={isCollapsed ? label : undefined}
    >
      <Icon />
      <span className={isCollapsed ? 'visually-hidden' : styles.label}>{label}</span>
      {path === paths.approvals && <PendingApprovalCount />}
    </Link>
  );
}

/** Shows the number of pending approvals. */
function PendingApprovalCount() {
  const pending = usePendingApprovalCount();
  if (pending === 0) return null;
  return (
    <span className={styles.count}>
      {pending}
      <span className="visually-hidden"> pending</span>
    </span>
  );
}

/** Links to the HTTP API reference: another page of this host, not one of the dashboard. */
const DocsLink = ({ isCollapsed }: { isCollapsed: boolean }) => (
  <a className={`menu-row ${styles.link}`} href={DOCS_URL} title={isCollapsed ? 'Docs' : undefined}>
    <DocsIcon />
    <span className={isCollapsed ? 'visually-hidden' : styles.label}>Docs</span>
  </a>
);
