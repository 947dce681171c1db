/** Address of NATS and the credentials to connect with. */
import { z } from 'zod';

export interface NatsAddress {
  /** Includes user and password, for a server that authenticates by those. */
  url: string;
  /** Content of a credentials file: a user's JWT and its seed. */
  creds?: string | undefined;
}

export const natsEnv = {
  NATS_URL: z.url(),
  /** Content of a credentials file. Absent: the user is in NATS_URL. */
  NATS_CREDS: z.string().optional(),
};

interface NatsEnv {
  NATS_URL: string;
  NATS_CREDS?: string | undefined;
}

export const natsAddress = (env: NatsEnv): NatsAddress => ({
  url: env.NATS_URL,
  creds: env.NATS_CREDS || undefined,
});
