import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { BrowserRouter } from 'react-router';
import { PageRoutes } from './routes';
import { ErrorBoundary } from './shell/frame/error-boundary';
import { queryClient } from './shell/query-client';
import { session, useSession } from './shell/session';
import { theme } from './shell/theme';

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queryClient}>
        <CacheResetOnSignOut />
        <BrowserRouter>
          <ErrorBoundary>
            <Suspense>
              <PageRoutes />
            </Suspense>
          </ErrorBoundary>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Clears the cache on sign-out, so that the next person at the same screen sees nothing of it. */
function CacheResetOnSignOut() {
  const { status } = useSession();
  useEffect(() => {
    if (status === 'unknown') void session.start();
    if (status === 'anonymous') queryClient.clear();
  }, [status]);
  return null;
}
