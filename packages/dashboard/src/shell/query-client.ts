import { ApiError } from '@gantry/sdk';
import { QueryClient } from '@tanstack/react-query';
import { isUnreachable } from './is-unreachable';

const RETRIES = 2;
/** Failed queries are retried, so that a page recovers by itself. */
const ERROR_REFETCH_MS = 5_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchInterval: ({ state: { status, error } }) =>
        status === 'error' && isTransient(error) ? ERROR_REFETCH_MS : false,
      retry: (failures, error) => failures < RETRIES && isTransient(error),
    },
  },
});

/** Whether an error may be temporary: a rejected request stays rejected, but a network or a busy server may recover. */
function isTransient(error: unknown): boolean {
  return !(error instanceof ApiError) || isUnreachable(error) || error.status >= 500;
}
