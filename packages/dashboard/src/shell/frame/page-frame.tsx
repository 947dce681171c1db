import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { Link, Outlet, useLocation } from 'react-router';
import { signInPath } from '../../pages/sign-in/next-path';
import { session, useSession } from '../session';
import { ApprovalsLink } from './approvals-link';
import { Brand } from './brand';
import { ColorSchemeSwitch } from './color-scheme-switch';
import { WhereItBreaks } from './error-boundary';
import styles from './page-frame.module.css';
import { WorkspaceSwitcher } from './workspace-switcher';

export function PageFrame() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const first = useRef(true);
  // A new page begins at its content for the keyboard and for screen readers, as it does after a full page load.
  // biome-ignore lint/correctness/useExhaustiveDependencies: moves with the path, and only with it.
  useEffect(() => {
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [pathname]);
  return (
    <>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <header className={styles.header}>
        <div className={styles.bar}>
          <Brand />
          <Place />
          <div className={styles.tools}>
            <ColorSchemeSwitch />
            <Account />
          </div>
        </div>
      </header>
      <main id="content" ref={main} tabIndex={-1} className={styles.main}>
        <WhereItBreaks key={pathname}>
          <Outlet />
        </WhereItBreaks>
      </main>
    </>
  );
}

/** Where one works, and what waits there. */
function Place() {
  const { status } = useSession();
  if (status !== 'signed-in') return null;
  return (
    <div className={styles.place}>
      <WorkspaceSwitcher />
      <ApprovalsLink />
    </div>
  );
}

function Account() {
  const { status, email } = useSession();
  const location = useLocation();
  if (status === 'unknown') return <span className={styles.account} />;
  if (status === 'anonymous') {
    return (
      <Button component={Link} to={signInPath(location)} variant="default">
        Sign in
      </Button>
    );
  }
  return (
    <>
      <Link to="/settings/members" className={styles.link}>
        Settings
      </Link>
      {email && (
        <Link to="/settings/account" className={styles.email}>
          {email}
        </Link>
      )}
      <Button variant="default" onClick={() => session.signOut()}>
        Sign out
      </Button>
    </>
  );
}
