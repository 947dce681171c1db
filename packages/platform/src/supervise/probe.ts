/** One question to a process: does it answer? */
import http from 'node:http';
import net from 'node:net';

export type Probe =
  /** 200 to a GET. */
  | { host?: string; port: number; path: string }
  /** Speaks first, as NATS does, and begins with this. */
  | { host?: string; port: number; greeting: string };

/** Also false if the answer takes longer. Each call opens a connection: accepting it is part of answering. */
export function answers(probe: Probe, timeoutMs: number): Promise<boolean> {
  const address = { host: reachable(probe.host), port: probe.port };
  return new Promise((resolve) => {
    const end = (answer: boolean) => {
      clearTimeout(timer);
      asked.destroy();
      resolve(answer);
    };
    const timer = setTimeout(end, timeoutMs, false);
    const asked =
      'path' in probe
        ? http.get({ ...address, path: probe.path, agent: false }, ({ statusCode }) => end(statusCode === 200))
        : net.connect(address).once('data', (data) => end(data.toString('latin1').startsWith(probe.greeting)));
    asked.on('error', () => end(false)).once('close', () => end(false));
  });
}

/** Maps the address that a process listens on to the one at which it is reached. */
const reachable = (listening = '127.0.0.1') => (/^(0\.0\.0\.0|::)$/.test(listening) ? '127.0.0.1' : listening);
