/** One PostgreSQL for the whole run, in a directory that the teardown removes. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { obtainTool, postgresProcess, postgresUrl, startAndWait, type ToolName } from '@gantry/platform';
import { POSTGRES_VARIABLE } from './database';
import { freePort } from './free-port';
import { beginRun } from './run-dir';
import { remember } from './running-postgres';

export default async function globalSetup(): Promise<void> {
  const dataDir = path.join(beginRun(), 'postgres');
  const options = { dataDir, port: await freePort(), password: randomBytes(16).toString('hex'), durable: false };
  await Promise.all([obtainTools(), postgresProcess(options).then(startAndWait).then(remember)]);
  process.env[POSTGRES_VARIABLE] = postgresUrl(options, 'postgres');
}

const tools: ToolName[] = ['nats-server', 'nginx', 'bwrap', 'chromium', 'pgbouncer'];

/** Every test finds these on PATH, whether the machine has them or they are fetched now. */
async function obtainTools(): Promise<void> {
  const onStep = (text: string) => process.stderr.write(`${text}\n`);
  const found = await Promise.all(tools.map((name) => obtainTool(name, { onStep }).catch((err: Error) => err)));
  for (const [index, tool] of found.entries()) {
    if (tool instanceof Error) process.stderr.write(`${tool.message}\n`);
    else {
      process.env.PATH = `${path.dirname(tool)}${path.delimiter}${process.env.PATH}`;
      if (tools[index] === 'chromium') process.env.CHROMIUM = tool;
    }
  }
}
