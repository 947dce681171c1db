import { Button } from '@mantine/core';
import { Suspense, useEffect, useRef } from 'react';
import { Link, Outlet, useLocation } from 'react-router';
import { paths, signInPath } from '../paths';
import { session, useSession } from '../session';
import { ApprovalsLink } from './approvals-link';
import { Brand } from './brand';
import { ColorSchemeSwitch } from './color-scheme-switch';
import { ErrorBoundary } from './error-boundary';
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
        {/* Outside of what changes with the page: the last page stays until the next one is there. */}
        <Suspense>
          <ErrorBoundary key={pathname}>
            <Outlet />
          </ErrorBoundary>
        </Suspense>
      </main>
    </>
  );
}

/** The workspace, and the approvals that wait in it. */
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
      <Link to={paths.members} className={styles.link}>
        Settings
      </Link>
      {email && (
        <Link to={paths.account} className={styles.email}>
          {email}
        </Link>
      )}
      <Button variant="default" onClick={() => session.signOut()}>
        Sign out
      </Button>
    </>
  );
}
