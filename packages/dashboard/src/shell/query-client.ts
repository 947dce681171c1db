import { ApiError } from '@gantry/sdk';
import { QueryClient } from '@tanstack/react-query';

const RETRIES = 2;
/** A page that could not be read recovers by itself. */
const FAILED_AGAIN_MS = 5_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchInterval: ({ state: { status, error } }) =>
        status === 'error' && mayPass(error) ? FAILED_AGAIN_MS : false,
      retry: (failures, error) => failures < RETRIES && mayPass(error),
    },
  },
});

/** A refusal stays one however often it is asked for; a network or a busy server may recover. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}
