import os from 'node:os';
import path from 'node:path';
import { readEnv } from '@gantry/env';
import { natsEnv, runSources } from '@gantry/events';
import { tracingEnv } from '@gantry/tracing';
import { z } from 'zod';
import { WARM_BYTES_DEFAULT } from './sandbox/warm-pool';

const RISK_ACKNOWLEDGEMENT = 'i-know';
/** An ordinary uid that nothing else uses: sandboxes must not share a uid with anything on the machine. */
const DEFAULT_UID = 64_738;

const list = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean));
const port = z.coerce.number().int().min(0).max(65_535);
const id = z.coerce
  .number()
  .int()
  .min(1)
  .max(2 ** 31);

export const envSchema = z.object({
  ...natsEnv,
  ...tracingEnv,
  METRICS_PORT: port,
  HOST: z.string().default('0.0.0.0'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  EXECUTOR_SLOTS: z.coerce.number().int().min(1).max(256).default(4),
  EXECUTOR_DIR: z
    .string()
    .default(path.join(os.tmpdir(), 'gantry-executor'))
    .refine(path.isAbsolute, 'must be an absolute path'),
  EXECUTOR_UID: id.default(DEFAULT_UID),
  EXECUTOR_GID: id.optional(),
  EXECUTOR_SOURCES: list
    .transform((sources) => (sources.length ? sources : [...runSources]))
    .pipe(z.array(z.enum(runSources))),
  EXECUTOR_ISOLATION: z.enum(['zygote', 'process']).default('zygote'),
  EXECUTOR_DRAIN_MS: z.coerce.number().int().min(0).default(25_000),
  EXECUTOR_STORE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(2 * 2 ** 30),
  EXECUTOR_WARM_BYTES: z.coerce.number().int().min(0).default(WARM_BYTES_DEFAULT),
  EXECUTOR_ALLOW_ROOT: z.literal(RISK_ACKNOWLEDGEMENT).optional(),
  EXECUTOR_UNSANDBOXED: z
    .undefined({ error: 'there is no unsandboxed mode: user code always runs in a sandbox' })
    .optional(),
  BWRAP: z.string().default('bwrap'),
  PYTHON: z.string().optional(),
  /** Absent: pip installs packages. */
  UV: z.string().optional(),
  EGRESS_ALLOW_PRIVATE: list,
  /** Absent: pip's default index. */
  PIP_INDEX_URL: z.string().optional(),
  PIP_EXTRA_INDEX_URL: list,
  PIP_FIND_LINKS: list,
  PIP_NO_INDEX: z.string().optional(),
  /** `name`, `name:port` (both over https) or an address such as `http://mirror:8080`. */
  EXECUTOR_PIP_FILE_HOSTS: list.refine(
    (hosts) => hosts.every((host) => URL.canParse(host.includes('://') ? host : `https://${host}`)),
    'must be host names or URLs',
  ),
});
export type Env = z.infer<typeof envSchema>;

const enrolSchema = envSchema
  .pick({ EXECUTOR_DIR: true, EXECUTOR_UID: true, EXECUTOR_GID: true, EXECUTOR_ALLOW_ROOT: true })
  .extend({
    /** JSON of an ExecutorKey. */
    NATS_EXECUTOR_SEED: z.string(),
  });

export const readExecutorEnv = (): Env => readEnv(envSchema);
export const readEnrolEnv = () => readEnv(enrolSchema);
