import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { BrowserRouter, Route, Routes } from 'react-router';
import { AccountPage } from './account/account-page';
import { VerifyEmailPage } from './account/verify-email-page';
import { createQueryClient } from './api';
import { ApprovalsPage } from './approvals/approvals-page';
import { ReviewPage } from './approvals/review-page';
import { AuditLogPage } from './audit/audit-log-page';
import { AutomationListPage } from './automations/automation-list-page';
import { AutomationPage } from './automations/automation-page';
import { DevicePage } from './device/device-page';
import { InvitePage } from './invitations/invite-page';
import { NotFoundPage } from './layout/not-found-page';
import { PageFrame } from './layout/page-frame';
import { MembersPage } from './members/members-page';
import { ForgotPasswordPage } from './session/forgot-password-page';
import { RequireSession } from './session/require-session';
import { ResetPasswordPage } from './session/reset-password-page';
import { session, useSession } from './session/session';
import { SignInPage } from './session/sign-in-page';
import { theme } from './theme';
import { TokensPage } from './tokens/tokens-page';
import { WorkspacePage } from './workspaces/workspace-page';

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
