/** One question to a process: does it answer? */
import http from 'node:http';

/** Answered by 200 to a GET of each path. */
export interface Probe {
  host?: string;
  port: number;
  paths: readonly string[];
}

/** Also false if the answer takes longer. Each call opens connections: accepting them is part of answering. */
export async function isHealthy({ host, port, paths }: Probe, timeoutMs: number): Promise<boolean> {
  const address = { host: toReachableHost(host), port };
  const answered = await Promise.all(paths.map((path) => isPathHealthy({ ...address, path }, timeoutMs)));
  return answered.every(Boolean);
}

function isPathHealthy(address: { host: string; port: number; path: string }, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (answer: boolean) => {
      clearTimeout(timer);
      asked.destroy();
      resolve(answer);
    };
    const timer = setTimeout(end, timeoutMs, false);
    const asked = http.get({ ...address, agent: false }, ({ statusCode }) => end(statusCode === 200));
    asked.on('error', () => end(false)).once('close', () => end(false));
  });
}

/** Maps the address that a process listens on to the one at which it is reached. */
const toReachableHost = (listening = '127.0.0.1') => (/^(0\.0\.0\.0|::)$/.test(listening) ? '127.0.0.1' : listening);
