import { Stack } from '@mantine/core';
import { Link, useLocation } from 'react-router';
import { DocsIcon, NarrowIcon, WidenIcon } from '../../ui/icons';
import { DOCS_URL, paths } from '../paths';
import { usePendingApprovals } from '../use-pending-approvals';
import styles from './navigation.module.css';
import { findSection, SECTIONS, type Section } from './sections';

interface NavigationProps {
  isNarrow?: boolean;
  /** Absent, as in the drawer: the navigation can't be made narrow. */
  onNarrow?: () => void;
}

export function Navigation({ isNarrow = false, onNarrow }: NavigationProps) {
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
      data-narrow={isNarrow}
    >
      {SECTIONS.map((sections, group) => (
        <ul key={sections[0]?.path} className={styles.group} data-last={group === last}>
          {sections.map((section) => (
            <li key={section.path}>
              <SectionLink section={section} isCurrent={section === currentSection} isNarrow={isNarrow} />
            </li>
          ))}
          {group === last && (
            <li>
              <DocsLink isNarrow={isNarrow} />
            </li>
          )}
        </ul>
      ))}
      {onNarrow && (
        <button type="button" className={styles.narrow} aria-expanded={!isNarrow} onClick={onNarrow}>
          {isNarrow ? <WidenIcon /> : <NarrowIcon />}
          <span className={isNarrow ? 'visually-hidden' : undefined}>
            {isNarrow ? 'Expand navigation' : 'Collapse'}
          </span>
        </button>
      )}
    </Stack>
  );
}

function SectionLink({
  section,
  isCurrent: isHere,
  isNarrow,
}: {
  section: Section;
  isCurrent: boolean;
  isNarrow: boolean;
}) {
  const { path, label, Icon } = section;
  return (
    <Link
      to={path}
      className={styles.link}
      aria-current={isHere ? 'page' : undefined}
      data-here={isHere}
      title={isNarrow ? label : undefined}
    >
      <Icon />
      <span className={isNarrow ? 'visually-hidden' : styles.label}>{label}</span>
      {path === paths.approvals && <PendingApprovalCount />}
    </Link>
  );
}

/** Shows the number of pending approvals. */
function PendingApprovalCount() {
  const pending = usePendingApprovals();
  if (pending === 0) return null;
  return (
    <span className={styles.count}>
      {pending}
      <span className="visually-hidden"> waiting</span>
    </span>
  );
}

/** Links to the HTTP API reference: another page of this host, not one of the dashboard. */
const DocsLink = ({ isNarrow }: { isNarrow: boolean }) => (
  <a className={styles.link} href={DOCS_URL} title={isNarrow ? 'Docs' : undefined}>
    <DocsIcon />
    <span className={isNarrow ? 'visually-hidden' : styles.label}>Docs</span>
  </a>
);
