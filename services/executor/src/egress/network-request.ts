/** A run's requests as they are reported: where to, how much and how long, never their contents. */
import type { RunEvent } from '@gantry/events';
import type { Refused } from './refused';

/** Not masked. */
export type NetworkRequest = Omit<Extract<RunEvent, { type: 'request' }>, 'type' | 'seq' | 'at'>;

export type Destination = Pick<NetworkRequest, 'method' | 'scheme' | 'host' | 'port' | 'path'>;

/** A request under way. */
export interface Exchange {
  bytesSent: number;
  bytesReceived: number;
  status: number | null;
  credentials: string[];
  /** Reports it; only the first call counts. */
  end(problem?: Refused): void;
  /** It is reported by others. */
  drop(): void;
}

/** @param open contains it until it is reported: the end of a run reports what is still under way */
export function beginExchange(
  { method, scheme, host, port, path }: Destination,
  open: Set<Exchange>,
  report: (request: NetworkRequest) => void,
): Exchange {
  const began = performance.now();
  const exchange: Exchange = {
    bytesSent: 0,
    bytesReceived: 0,
    status: null,
    credentials: [],
    drop: () => void open.delete(exchange),
    end(problem) {
      if (!open.delete(exchange)) return;
      const { bytesSent, bytesReceived, status, credentials } = exchange;
      report({
        ...{ method, scheme, host, port, path, status, bytesSent, bytesReceived, credentials },
        durationMs: Math.round(performance.now() - began),
        ...(problem && { problem: problemOf(problem) }),
      });
    },
  };
  open.add(exchange);
  return exchange;
}

const problemOf = ({ status, message }: Refused): NonNullable<NetworkRequest['problem']> => ({
  kind: status === 502 || status === 504 ? 'failed' : 'refused',
  message,
});
