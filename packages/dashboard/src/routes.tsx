import { type ComponentType, lazy } from 'react';
import { Navigate, Route, Routes } from 'react-router';
import { NotFound } from './shell/frame/not-found';
import { PageFrame } from './shell/frame/page-frame';
import { paths, patterns } from './shell/paths';
import { RequireSession } from './shell/require-session';

/** Each page is a file of its own, fetched when somebody goes there. */
type Pages = [path: string, Page: ComponentType][];

/** Cards for whoever is not signed in yet. */
const CARDS: Pages = [
  [paths.signIn, lazy(() => import('./pages/sign-in/sign-in-page'))],
  [paths.invite, lazy(() => import('./pages/invite/invite-page'))],
  [paths.forgotPassword, lazy(() => import('./pages/forgot-password/forgot-password-page'))],
  [paths.resetPassword, lazy(() => import('./pages/reset-password/reset-password-page'))],
  [paths.setup, lazy(() => import('./pages/setup/setup-page'))],
  [paths.verifyEmail, lazy(() => import('./pages/verify-email/verify-email-page'))],
];

/** Pages for whoever is signed in. */
const OWN_PAGES: Pages = [
  [paths.automations, lazy(() => import('./pages/automation-list/automation-list-page'))],
  [paths.approvals, lazy(() => import('./pages/approvals/approvals-page'))],
  [paths.workers, lazy(() => import('./pages/workers/workers-page'))],
  [patterns.worker, lazy(() => import('./pages/worker/worker-page'))],
  [patterns.workerCode, lazy(() => import('./pages/worker-code/worker-code-page'))],
  [patterns.workerVersions, lazy(() => import('./pages/worker-versions/worker-versions-page'))],
  [patterns.workerRun, lazy(() => import('./pages/worker-run/worker-run-page'))],
  [paths.device, lazy(() => import('./pages/device/device-page'))],
  [paths.members, lazy(() => import('./pages/members/members-page'))],
  [paths.tokens, lazy(() => import('./pages/tokens/tokens-page'))],
  [paths.auditLog, lazy(() => import('./pages/audit-log/audit-log-page'))],
  [paths.workspace, lazy(() => import('./pages/workspace/workspace-page'))],
  [paths.account, lazy(() => import('./pages/account/account-page'))],
];

/** Pages that a link may open to anybody; they ask for a session themselves where they need one. */
const LINKED_PAGES: Pages = [
  [patterns.automation, lazy(() => import('./pages/automation/automation-page'))],
  [patterns.review, lazy(() => import('./pages/review/review-page'))],
];

/** Addresses that lead on; links of earlier versions among them. */
const REDIRECTS: [from: string, to: string][] = [
  [paths.home, paths.automations],
  [paths.settings, paths.workspace],
  [paths.formerAuditLog, paths.auditLog],
];

export function PageRoutes() {
  return (
    <Routes>
      {CARDS.map(([path, Page]) => (
        <Route key={path} path={path} element={<Page />} />
      ))}
      <Route element={<PageFrame />}>
        {OWN_PAGES.map(([path, Page]) => (
          <Route
            key={path}
            path={path}
            element={
              <RequireSession>
                <Page />
              </RequireSession>
            }
          />
        ))}
        {LINKED_PAGES.map(([path, Page]) => (
          <Route key={path} path={path} element={<Page />} />
        ))}
        {REDIRECTS.map(([from, to]) => (
          <Route key={from} path={from} element={<Navigate to={to} replace />} />
        ))}
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  );
}
