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
  /** How often the response contained the value of one; the code received its placeholder. */
  echoed: number;
  problem: { kind: 'refused' | 'failed'; message: string } | null;
}

type Body = Record<string, unknown>;

export function requestOf(place: Pick<RunRequest, 'id' | 'attempt' | 'endedAt'>, body: Body): RunRequest {
  return {
    ...place,
    durationMs: numberOf(body.duration_ms) ?? 0,
    method: textOf(body.method),
    scheme: textOf(body.scheme) ?? 'https',
    host: textOf(body.host) ?? '',
    port: numberOf(body.port) ?? 443,
    path: textOf(body.path),
    status: numberOf(body.status),
    bytesSent: numberOf(body.bytes_sent) ?? 0,
    bytesReceived: numberOf(body.bytes_received) ?? 0,
    credentials: Array.isArray(body.credentials) ? body.credentials.map(String) : [],
    echoed: numberOf(body.echoed) ?? 0,
    problem: problemOf(body.problem),
  };
}

function problemOf(told: unknown): RunRequest['problem'] {
  if (typeof told !== 'object' || told === null) return null;
  const { kind, message } = told as Body;
  return { kind: kind === 'refused' ? 'refused' : 'failed', message: textOf(message) ?? '' };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const USUAL_PORTS: Record<string, number> = { http: 80, https: 443 };

/** Returns the host, with its port unless that is the scheme's default. */
export const hostOf = ({ scheme, host, port }: RunRequest): string =>
  USUAL_PORTS[scheme] === port ? host : `${host}:${port}`;
