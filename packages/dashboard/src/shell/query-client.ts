import { ApiError } from '@gantry/api-client';
import { QueryClient } from '@tanstack/react-query';

const RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && mayPass(error),
    },
  },
});

/** A refusal stays one however often it is asked for; a network or a busy server may recover. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}
