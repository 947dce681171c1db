import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';

/**
 * For what keeps a service from starting: a line of the log for each problem, and meanwhile an address that is alive,
 * not ready, and says why. It is closed once there is none: a request of any other kind is better refused, and sent to
 * another replica, than accepted.
 * @returns to be called with all present problems each time they change
 */
export function createProblemServer({ host, port, log }: { host: string; port: number; log: Logger }) {
  let problems: string[] = [];
  let server: Server | undefined;

  async function startServer(): Promise<Server> {
    const opened = createServer((req, res) => {
      const status = { '/healthz': 200, '/health': 503 }[req.url ?? ''];
      if (!status) return res.destroy();
      const body = status === 200 ? { status: 'ok' } : { status: 'starting', problems };
      res.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve, reject) => opened.once('error', reject).listen(port, host, resolve));
    return opened;
  }

  return async (found: string[]): Promise<void> => {
    problems = found;
    for (const problem of problems) log.error(`not ready: ${problem}`);
    if (problems.length) server ??= await startServer();
    else {
      await new Promise((resolve) => server?.close(resolve));
      log.info('all problems have been resolved');
    }
  };
}
