import { Group, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link, Outlet, useLocation, useNavigate } from 'react-router';
import { Dialog } from '../../ui/dialog';
import { MenuIcon, PlusIcon, SearchIcon } from '../../ui/icons';
import { LinkButton } from '../link-button';
import { LiveChanges } from '../live/live-changes';
import { paths, signInPath } from '../paths';
import { useSession } from '../session';
import { useShortcuts } from '../shortcuts';
import { useWorkspace } from '../use-me';
import { useStoredFlag } from '../use-stored-flag';
import { AccountMenu } from './account-menu';
import { Brand } from './brand';
import { Breadcrumbs } from './breadcrumbs';
import { ColorSchemeSwitch } from './color-scheme-switch';
import { ErrorBoundary } from './error-boundary';
import { Navigation } from './navigation';
import styles from './page-layout.module.css';
import { SECTIONS } from './sections';
import { ShortcutHelp } from './shortcut-help';
import { Toasts } from './toasts';
import { WorkspaceSwitcher } from './workspace-switcher';

/** Fetched on first use. */
const CommandPalette = lazy(() => import('./command-palette'));

type OpenOverlay = 'navigation' | 'palette' | 'keys' | null;

/** Frames all pages: navigation at the left for members, and a bar above. */
export function PageLayout() {
  const { status } = useSession();
  const isMember = status === 'signed-in';
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const first = useRef(true);
  const [open, setOpen] = useState<OpenOverlay>(null);
  const close = () => setOpen(null);
  // A new page begins at its content for the keyboard and for screen readers, as it does after a full page load.
  // biome-ignore lint/correctness/useExhaustiveDependencies: moves with the path, and only with it.
  useEffect(() => {
    setOpen(null);
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [pathname]);
  return (
    <>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      {/* The border is the beam that everything hangs from. */}
      <Group gap={0} align="stretch" wrap="nowrap" flex={1} style={{ borderTop: '3px solid var(--accent)' }}>
        {isMember && <Sidebar />}
        <Stack gap={0} flex={1} miw={0}>
          <header className={styles.bar}>
            {isMember ? (
              <>
                <button
                  type="button"
                  className={`icon-button ${styles.menu}`}
                  aria-label="Open navigation"
                  onClick={() => setOpen('navigation')}
                >
                  <MenuIcon />
                </button>
                <Breadcrumbs />
                <button
                  type="button"
                  className={styles.search}
                  aria-label="Search or go to… Ctrl K"
                  onClick={() => setOpen('palette')}
                >
                  <SearchIcon />
                  <span className="hidden-narrow">Search or go to…</span>
                  <kbd className="hidden-narrow">Ctrl K</kbd>
                </button>
              </>
            ) : (
              <Brand />
            )}
            <Group className={styles.tools} gap="xs" wrap="nowrap" flex="none">
              {isMember && <CreateLink />}
              <ColorSchemeSwitch />
              <AccountControls />
            </Group>
          </header>
          <main id="content" ref={main} tabIndex={-1} className={styles.main}>
            {/* Outside of what changes with the page: the last page stays until the next one is there. */}
            <Suspense>
              <ErrorBoundary key={pathname}>
                <Outlet />
              </ErrorBoundary>
            </Suspense>
          </main>
        </Stack>
      </Group>
      {isMember && <GlobalShortcuts setOpen={setOpen} />}
      {open === 'navigation' && (
        <Dialog title="Navigation" bare side onClose={close}>
          <Stack gap={0} h="100dvh">
            <Stack className={styles.sideHead} gap={4} p="4px 12px 8px">
              <Brand />
              <WorkspaceSwitcher />
            </Stack>
            <Navigation />
          </Stack>
        </Dialog>
      )}
      {open === 'palette' && (
        <Suspense>
          <CommandPalette onClose={close} onKeys={() => setOpen('keys')} />
        </Suspense>
      )}
      {open === 'keys' && <ShortcutHelp onClose={close} />}
      <Toasts />
      <LiveChanges />
    </>
  );
}

function Sidebar() {
  const { isSet: isNarrow, toggle } = useStoredFlag('gantry-narrow-navigation');
  return (
    <aside aria-label="Sidebar" className={styles.side} data-narrow={isNarrow}>
      <Stack className={styles.sideHead} gap={4} p="4px 12px 8px">
        <Brand isNarrow={isNarrow} />
        {!isNarrow && <WorkspaceSwitcher />}
      </Stack>
      <Navigation isCollapsed={isNarrow} onCollapse={toggle} />
    </aside>
  );
}

/** Registers the shortcuts that work on every page. */
function GlobalShortcuts({ setOpen }: { setOpen: (open: OpenOverlay) => void }) {
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme({ keepTransitions: true });
  useWindowEvent('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    setOpen('palette');
  });
  useShortcuts('General', [
    { keys: '/', description: 'Search this page', run: () => focusSearch() || setOpen('palette') },
    { keys: '?', description: 'Show keyboard shortcuts', run: () => setOpen('keys') },
    { keys: 'd', description: 'Switch between light and dark mode', run: toggleColorScheme },
    { keys: 'c', description: 'Create a worker or automation', run: () => navigate(paths.create) },
    ...SECTIONS.flat().map(({ key, label, path }) => ({
      keys: `g ${key}`,
      description: `Go to ${label}`,
      run: () => navigate(path),
    })),
  ]);
  return null;
}

function CreateLink() {
  const role = useWorkspace()?.role ?? 'viewer';
  if (role === 'viewer') return null;
  return (
    <Link className="icon-button" to={paths.create} aria-label="Create" title="Create a worker or automation">
      <PlusIcon />
    </Link>
  );
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  field?.focus();
  return field !== null;
}

function AccountControls() {
  const { status } = useSession();
  const location = useLocation();
  if (status === 'unknown') return <Text span w="2.25rem" />;
  if (status === 'signed-in') return <AccountMenu />;
  return (
    <LinkButton to={signInPath(location)} variant="default">
      Sign in
    </LinkButton>
  );
}
