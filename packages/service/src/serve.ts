import { createServer, type RequestListener, type Server } from 'node:http';
import { answerMalformedRequests, type ErrorShape, HEADER_BYTES_MAX, serveMetrics } from '@gantry/http';
import type { Express } from 'express';
import type { Logger } from 'pino';

export interface RunningService {
  app: Express;
  /** Called first: readiness turns 503 and standing claims are answered, while requests are still served. */
  drain: () => void | Promise<void>;
  /** Called after the last request has been answered: closes pools and connections. */
  close: () => Promise<void>;
}

interface Address {
  errorShape: ErrorShape;
  host: string;
  port: number;
}

export interface Door {
  /** Shown by readiness until the service is let in. */
  waitsFor(problems: string[]): void;
  letIn(service: RunningService, options: { metricsPort: number; log: Logger }): void;
}

/** Grace period for requests in progress after SIGTERM: a run with `wait` takes up to 10 s. */
const GRACE_MS = 12_000;

/** Listens before the service can work: until then it is alive, and readiness says what is missing. */
export async function openDoor({ errorShape, host, port }: Address): Promise<Door> {
  let problems: string[] = [];
  let answer: RequestListener = (req, res) => {
    const status = { '/healthz': 200, '/health': 503 }[req.url ?? ''];
    // To the gateway this is a replica that is not there yet.
    if (!status) return res.destroy();
    const body = status === 200 ? { status: 'ok' } : { status: 'starting', ...(problems.length && { problems }) };
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (req, res) => answer(req, res));
  answerMalformedRequests(server, errorShape);
  // Longer than nginx keeps idle upstream connections, so that it never sends on a connection being closed here.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    waitsFor: (found) => {
      problems = found;
    },
    letIn: (service, { metricsPort, log }) => {
      answer = service.app;
      endCleanly(server, service, serveMetrics(metricsPort, host), log);
      log.info({ host, port }, 'listening');
    },
  };
}

/** On SIGTERM or SIGINT. */
function endCleanly(server: Server, service: RunningService, metrics: { close(): unknown }, log: Logger): void {
  let leaving = false;
  const leave = async (signal: string) => {
    if (leaving) return;
    leaving = true;
    log.info({ signal }, 'shutting down');
    await service.drain();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(force);
    metrics.close();
    await service.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      leave(signal).catch((err) => {
        log.fatal({ err }, 'shutdown failed');
        process.exit(1);
      });
    });
  }
}
