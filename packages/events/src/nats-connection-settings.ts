/** Address of NATS and the credentials to connect with. */
import { caCertificates } from '@gantry/env';
import { z } from 'zod';

export interface NatsConnectionSettings {
  /** Includes user and password, for a server that authenticates by those. */
  url: string;
  /** Content of a credentials file: a user's JWT and its seed. */
  creds?: string | undefined;
  /** CAs in PEM; absent: those that Node.js trusts. */
  ca?: string | undefined;
}

export const natsEnv = {
  NATS_URL: z.url(),
  /** Content of a credentials file. Absent: the user is in NATS_URL. */
  NATS_CREDS: z.string().optional(),
  /** CAs of the server's certificate; demands TLS, as `tls://` in NATS_URL does. */
  NATS_CA: caCertificates,
};

export const toNatsConnectionSettings = (env: z.infer<z.ZodObject<typeof natsEnv>>): NatsConnectionSettings => ({
  url: env.NATS_URL,
  creds: env.NATS_CREDS || undefined,
  ca: env.NATS_CA,
});
