import { createServer, type Server } from 'node:http';
import { type ErrorShape, HEADER_BYTES_MAX, handleMalformedRequests, serveMetrics } from '@gantry/http';
import type { Express } from 'express';
import type { Logger } from 'pino';

export interface RunningService {
  app: Express;
  /** Called first: readiness turns 503 and standing claims are answered, while requests are still served. */
  drain: () => void | Promise<void>;
  /** Called after the last request has been answered: closes pools and connections. */
  close: () => Promise<void>;
}

interface ServerOptions extends RunningService {
  errorShape: ErrorShape;
  host: string;
  port: number;
  metricsPort: number;
  log: Logger;
}

/** Grace period for requests in progress after SIGTERM: a run with `wait` takes up to 10 s. */
const GRACE_MS = 12_000;

/** Listens, and shuts down cleanly on SIGTERM or SIGINT. */
export async function serve(options: ServerOptions): Promise<Server> {
  const { app, log } = options;
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, app);
  handleMalformedRequests(server, options.errorShape);
  // Longer than nginx keeps idle upstream connections, so that it never sends on a connection being closed here.
  server.keepAliveTimeout = 75_000;
  const metrics = serveMetrics(options.metricsPort, options.host);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  log.info({ host: options.host, port: options.port }, 'listening');

  let leaving = false;
  const shutDown = async (signal: string) => {
    if (leaving) return;
    leaving = true;
    log.info({ signal }, 'shutting down');
    await options.drain();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    await closed;
    clearTimeout(force);
    metrics.close();
    await options.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      shutDown(signal).catch((err) => {
        log.fatal({ err }, 'shutdown failed');
        process.exit(1);
      });
    });
  }
  return server;
}
