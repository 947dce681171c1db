/** A NATS server for one test file, with the users and permissions of the real one. */
import {
  findTool,
  type NatsPasswords,
  type NatsUser,
  natsProcess,
  natsUrl,
  natsUsers,
  startAndWait,
  writeNatsConfig,
} from '@gantry/platform';
import { freePort } from './free-port';
import { temporaryDir } from './run-dir';

export interface TestNats {
  url(user: NatsUser): string;
  /** As a crash would: nothing is flushed, clients are not told. */
  kill(): Promise<void>;
  /** Starts it again after `kill` (or stops it first), on the same port and with the same streams. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestNats(): Promise<TestNats> {
  const command = findTool('nats-server');
  if (!command) throw new Error('nats-server was not found, although the test run began by fetching it');
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, `${user}-test`])) as NatsPasswords;
  const options = { command, dir: temporaryDir('nats'), port: await freePort(), passwords };
  writeNatsConfig(options);
  const spec = natsProcess(options);
  let running = await startAndWait(spec);
  return {
    url: (user) => natsUrl(options, user),
    kill: () => running.kill(),
    restart: async () => {
      await running.stop();
      running = await startAndWait(spec);
    },
    stop: () => running.stop(),
  };
}
