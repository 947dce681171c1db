/** Address of NATS and the credentials to connect with. */
import fs from 'node:fs';
import { z } from 'zod';

export interface NatsAddress {
  /** Includes user and password, for a server that authenticates by those. */
  url: string;
  /** Content of a credentials file: a user's JWT and its seed. */
  creds?: string | undefined;
}

export const natsEnv = {
  NATS_URL: z.url(),
  /** The credentials, or a file that contains them. If neither is set, the user is in NATS_URL. */
  NATS_CREDS: z.string().optional(),
  NATS_CREDS_FILE: z.string().optional(),
};

interface NatsEnv {
  NATS_URL: string;
  NATS_CREDS?: string | undefined;
  NATS_CREDS_FILE?: string | undefined;
}

/** @throws Error if the file cannot be read */
export function natsAddress(env: NatsEnv): NatsAddress {
  const creds = env.NATS_CREDS ?? (env.NATS_CREDS_FILE && fs.readFileSync(env.NATS_CREDS_FILE, 'utf8'));
  return { url: env.NATS_URL, creds: creds || undefined };
}
