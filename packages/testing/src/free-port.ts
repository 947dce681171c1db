/** Ports for servers of tests. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** Below the range from which systems choose ports of outgoing connections, which would take one that is free for a moment. */
const [PORT_MIN, PORT_MAX] = [10_240, 32_767];

/** A TCP port of 127.0.0.1 on which nothing listens, given to no other process of tests while this one lives. */
export async function reserveFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX + 1);
    if ((await tryReservePort(port)) && (await isPortFree(port))) return port;
  }
}

/** Runs in no hook of a suite: a server that stays open would hold that hook, and with it the services that it has started. */
const outsideSuites = AsyncLocalStorage.snapshot();

/** Takes a name that the kernel frees with this process. Elsewhere than on Linux there is none, and nothing is reserved. */
async function tryReservePort(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const server = await outsideSuites(() => tryListen({ path: `\0gantry-test-port-${port}` }));
  server?.unref();
  return server !== undefined;
}

async function isPortFree(port: number): Promise<boolean> {
  const server = await tryListen({ port, host: '127.0.0.1' });
  if (!server) return false;
  await once(server.close(), 'close');
  return true;
}

/** Undefined if the address is taken. */
async function tryListen(listenOptions: net.ListenOptions): Promise<net.Server | undefined> {
  const server = net.createServer();
  try {
    await once(server.listen(listenOptions), 'listening');
    return server;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw err;
  }
}
