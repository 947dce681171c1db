import { createServer, type RequestListener } from 'node:http';

/** Serves an app at a port of this machine. @returns how to stop it */
export async function serveApp(app: RequestListener, port: number): Promise<() => Promise<void>> {
  // A client must not find a connection closed that it is about to use again.
  const server = createServer({ keepAliveTimeout: 120_000 }, app);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
