/** Prints how the first owner signs in. */
import { readEnv } from '@gantry/env';
import { z } from 'zod';

const schema = z.object({
  PORT: z.string().default('3000'),
  WORKER_API: z.string().optional(),
  SETUP_TOKEN: z.string(),
});

export async function setup(): Promise<void> {
  const env = readEnv(schema);
  const address = env.WORKER_API ?? `127.0.0.1:${env.PORT}`;
  const answer = await fetch(`http://${address}/api/system/platform-config`);
  if (!answer.ok) throw new Error(`worker-api answered ${answer.status}: ${await answer.text()}`);
  const { setup_required, dashboard_url } = (await answer.json()) as { setup_required: boolean; dashboard_url: string };
  process.stdout.write(
    setup_required
      ? `\nGantry has no owner yet. To become the owner, open this one-time link:\n\n` +
          `  ${dashboard_url}/setup#${env.SETUP_TOKEN}\n\n`
      : `Gantry already has an owner; sign in at ${dashboard_url}\n`,
  );
}
