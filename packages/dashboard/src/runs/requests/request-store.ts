/** Stores the requests of a run and their sums. Like the log, they grow outside of React. */
import { createStoreSubscription, type StoreSubscription } from '../../ui/store-subscription';
import { formatRequestHost, type RunRequest } from './run-request';

export interface RequestTotals {
  count: number;
  hosts: number;
  refused: number;
  failed: number;
  bytesSent: number;
  bytesReceived: number;
  /** Number of credential values in responses. */
  echoed: number;
  /** An attempt has reached the limit of stored requests. */
  isCut: boolean;
}

export interface RequestStore extends StoreSubscription {
  /** Always the same array, growing at its end. */
  readonly requests: readonly RunRequest[];
  sums: () => RequestTotals;
  append: (requests: RunRequest[]) => void;
}

/** As the API documents it. */
export const REQUESTS_PER_ATTEMPT_MAX = 10_000;

export function createRequestStore(): RequestStore {
  const requests: RunRequest[] = [];
  const hosts = new Set<string>();
  const countByAttempt = new Map<number, number>();
  const sums = { count: 0, refused: 0, failed: 0, bytesSent: 0, bytesReceived: 0, echoed: 0, isCut: false };
  const { redraws, notify: tell } = createStoreSubscription();

  function add(request: RunRequest): void {
    const before = countByAttempt.get(request.attempt) ?? 0;
    sums.isCut ||= before + 1 >= REQUESTS_PER_ATTEMPT_MAX;
    if (before === REQUESTS_PER_ATTEMPT_MAX) return;
    countByAttempt.set(request.attempt, before + 1);
    requests.push(request);
    hosts.add(formatRequestHost(request));
    sums.count++;
    sums.bytesSent += request.bytesSent;
    sums.bytesReceived += request.bytesReceived;
    sums.echoed += request.echoed;
    if (request.problem) sums[request.problem.kind]++;
  }

  return {
    requests,
    sums: () => ({ ...sums, hosts: hosts.size }),
    append(added) {
      if (!added.length) return;
      added.forEach(add);
      tell();
    },
    ...redraws,
  };
}
