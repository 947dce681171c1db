/** A request of a run's code to another host, as the event stream reports it. */
export interface RunRequest {
  /** Id of the event: unique within the run. */
  id: string;
  attempt: number;
  /** Epoch milliseconds; null where the stream does not say. */
  endedAt: number | null;
  durationMs: number;
  /** Null: a connection whose requests can't be seen. */
  method: string | null;
  scheme: string;
  host: string;
  port: number;
  path: string | null;
  /** Null where no response was seen. */
  status: number | null;
  bytesSent: number;
  bytesReceived: number;
  /** Names of the credentials that replaced placeholders. */
  credentials: string[];
  /** Occurrences of credential values in the response; the code received their placeholders. */
  echoed: number;
  problem: { kind: 'refused' | 'failed'; message: string } | null;
}

type Body = Record<string, unknown>;

export function toRunRequest(position: Pick<RunRequest, 'id' | 'attempt' | 'endedAt'>, body: Body): RunRequest {
  return {
    ...position,
    durationMs: toNumber(body.duration_ms) ?? 0,
    method: toText(body.method),
    scheme: toText(body.scheme) ?? 'https',
    host: toText(body.host) ?? '',
    port: toNumber(body.port) ?? 443,
    path: toText(body.path),
    status: toNumber(body.status),
    bytesSent: toNumber(body.bytes_sent) ?? 0,
    bytesReceived: toNumber(body.bytes_received) ?? 0,
    credentials: Array.isArray(body.credentials) ? body.credentials.map(String) : [],
    echoed: toNumber(body.echoed) ?? 0,
    problem: toRequestProblem(body.problem),
  };
}

function toRequestProblem(value: unknown): RunRequest['problem'] {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, message } = value as Body;
  return { kind: kind === 'refused' ? 'refused' : 'failed', message: toText(message) ?? '' };
}

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const DEFAULT_PORTS: Record<string, number> = { http: 80, https: 443 };

/** Returns the host, with its port unless that is the scheme's default. */
export const formatRequestHost = ({ scheme, host, port }: RunRequest): string =>
  DEFAULT_PORTS[scheme] === port ? host : `${host}:${port}`;
