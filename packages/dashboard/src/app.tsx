import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { BrowserRouter, Route, Routes } from 'react-router';
import { AccountPage } from './pages/account/account-page';
import { ApprovalsPage } from './pages/approvals/approvals-page';
import { AuditLogPage } from './pages/audit-log/audit-log-page';
import { AutomationPage } from './pages/automation/automation-page';
import { AutomationListPage } from './pages/automation-list/automation-list-page';
import { DevicePage } from './pages/device/device-page';
import { ForgotPasswordPage } from './pages/forgot-password/forgot-password-page';
import { InvitePage } from './pages/invite/invite-page';
import { MembersPage } from './pages/members/members-page';
import { ResetPasswordPage } from './pages/reset-password/reset-password-page';
import { ReviewPage } from './pages/review/review-page';
import { SignInPage } from './pages/sign-in/sign-in-page';
import { TokensPage } from './pages/tokens/tokens-page';
import { VerifyEmailPage } from './pages/verify-email/verify-email-page';
import { WorkspacePage } from './pages/workspace/workspace-page';
import { createQueryClient } from './shell/api';
import { NotFoundPage } from './shell/frame/not-found';
import { PageFrame } from './shell/frame/page-frame';
import { RequireSession } from './shell/require-session';
import { session, useSession } from './shell/session';
import { theme } from './shell/theme';

/** Pages for whoever is signed in. */
const OWN_PAGES: [string, () => ReactNode][] = [
  ['/', AutomationListPage],
  ['/approvals', ApprovalsPage],
  ['/device', DevicePage],
  ['/settings/members', MembersPage],
  ['/settings/tokens', TokensPage],
  ['/settings/audit-log', AuditLogPage],
  ['/settings/workspace', WorkspacePage],
  ['/settings/account', AccountPage],
];

const queryClient = createQueryClient();

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queryClient}>
        <ForgetOnSignOut />
        <BrowserRouter>
          <Routes>
            <Route path="/sign-in" element={<SignInPage />} />
            <Route path="/invite" element={<InvitePage />} />
            <Route path="/forgot-password" element={<ForgotPasswordPage />} />
            <Route path="/reset-password" element={<ResetPasswordPage />} />
            <Route path="/verify-email" element={<VerifyEmailPage />} />
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
              <Route path="/a/:automationId" element={<AutomationPage />} />
              <Route path="/review/:token" element={<ReviewPage />} />
              <Route path="*" element={<NotFoundPage />} />
            </Route>
          </Routes>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** What one person has read must not be there for the next one at the same screen. */
function ForgetOnSignOut() {
  const { status } = useSession();
  useEffect(() => {
    if (status === 'unknown') void session.start();
    if (status === 'anonymous') queryClient.clear();
  }, [status]);
  return null;
}
