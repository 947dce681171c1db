import net from 'node:net';
import { describePortHolder } from './port-holder';

export interface RequiredPort {
  port: number;
  host: string;
  /** Name of the program that will listen there, for the message. */
  name: string;
}

/** @throws Error that names every port that another program holds, that program, and how to choose others. */
export async function requireFreePorts(ports: RequiredPort[]): Promise<void> {
  const problems = await Promise.all(ports.map(async (each) => ({ ...each, problem: await findPortProblem(each) })));
  const taken = problems.filter(({ problem }) => problem);
  if (!taken.length) return;
  const list = taken.map(({ port, name, problem }) => `${port} (${name}): ${problem}`).join('; ');
  throw new Error(`these ports cannot be used: ${list}. Choose other ports with GANTRY_PORT=<first port> npm start`);
}

function findPortProblem({ port, host }: RequiredPort): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (err: NodeJS.ErrnoException) => {
      resolve(err.code === 'EADDRINUSE' ? `held by ${describePortHolder(port) ?? 'another program'}` : err.message);
    });
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
