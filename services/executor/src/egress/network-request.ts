/** Reports a run's requests: destination, bytes and duration; for those that write also the response. */
import type { RunEvent } from '@gantry/events';
import { type EgressRefusedError, NOT_RECORDED } from './egress-refused-error';

/** A host's response to a writing request, decoded. */
export interface RawResponse {
  /** Path and query of the request, without placeholders. */
  target: string;
  contentType: string | null;
  location?: string;
  body: Buffer;
}

/** Not masked. */
export type NetworkRequest = Omit<Extract<RunEvent, { type: 'request' }>, 'type' | 'seq' | 'at' | 'answer'> & {
  answer?: RawResponse;
};

export type Destination = Pick<NetworkRequest, 'method' | 'scheme' | 'host' | 'port' | 'path'>;

/** A request under way. */
export interface Exchange {
  bytesSent: number;
  bytesReceived: number;
  status: number | null;
  credentials: string[];
  /** Values of credentials that came back. */
  echoed: number;
  /** Key under which its response is recorded: path and query of the request. */
  keptAs: string | null;
  /** Called when it is reported. */
  answer(): Omit<RawResponse, 'target'> | null;
  /** As in the run event. */
  recorded: number | undefined;
  /** Reports it; only the first call counts. */
  end(problem?: EgressRefusedError): void;
  /** Discards it: the requests inside are reported instead. */
  drop(): void;
}

/** @param openExchanges contains it until it is reported: the end of a run reports what is still under way */
export function startExchange(
  destination: Destination,
  openExchanges: Set<Exchange>,
  report: (request: NetworkRequest) => void,
): Exchange {
  const startedAt = performance.now();
  const exchange: Exchange = {
    bytesSent: 0,
    bytesReceived: 0,
    status: null,
    credentials: [],
    echoed: 0,
    keptAs: null,
    answer: () => null,
    recorded: undefined,
    drop: () => void openExchanges.delete(exchange),
    end(problem) {
      if (!openExchanges.delete(exchange)) return;
      const { keptAs } = exchange;
      const answer = keptAs === null || problem ? null : exchange.answer();
      const { bytesSent, bytesReceived, status, credentials, echoed } = exchange;
      const recorded = problem?.reason === NOT_RECORDED ? null : exchange.recorded;
      report({
        ...destination,
        status,
        bytesSent,
        bytesReceived,
        credentials,
        durationMs: Math.round(performance.now() - startedAt),
        ...(echoed > 0 && { echoed }),
        ...(problem && { problem: toProblem(problem) }),
        ...(answer && keptAs !== null && { answer: { ...answer, target: keptAs } }),
        ...(recorded !== undefined && { recorded }),
      });
    },
  };
  openExchanges.add(exchange);
  return exchange;
}

const toProblem = ({ status, message }: EgressRefusedError): NonNullable<NetworkRequest['problem']> => ({
  kind: status === 502 || status === 504 ? 'failed' : 'refused',
  message,
});
