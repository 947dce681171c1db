import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect } from 'react';
import { BrowserRouter, Route, Routes } from 'react-router';
import { createQueryClient } from './api';
import { AutomationListPage } from './automations/automation-list-page';
import { AutomationPage } from './automations/automation-page';
import { NotFoundPage } from './layout/not-found-page';
import { PageFrame } from './layout/page-frame';
import { RequireSession } from './session/require-session';
import { session, useSession } from './session/session';
import { SignInPage } from './session/sign-in-page';
import { theme } from './theme';

const queryClient = createQueryClient();

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queryClient}>
        <ForgetOnSignOut />
        <BrowserRouter>
          <Routes>
            <Route path="/sign-in" element={<SignInPage />} />
            <Route element={<PageFrame />}>
              <Route
                index
                element={
                  <RequireSession>
                    <AutomationListPage />
                  </RequireSession>
                }
              />
              <Route path="/a/:automationId" element={<AutomationPage />} />
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
