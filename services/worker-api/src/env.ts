import { authEnv } from '@gantry/auth';
import { objectStoreEnv } from '@gantry/object-store';
import { retentionEnv } from '@gantry/run-engine';
import { outboundAllowList } from '@gantry/safe-fetch';
import { commonEnv } from '@gantry/service';
import { keyRing } from '@gantry/vault';
import { z } from 'zod';
import type { OidcSettings } from './accounts/oidc/identity-provider';
import { oauthApps } from './integrations/oauth-apps';
import { listAliasProblems, modelAliases, modelProviders } from './models/model-settings';

const envVariables = z.object({
  ...commonEnv,
  ...authEnv,
  ...objectStoreEnv,
  ...retentionEnv,
  /** `v1:<base64>,v2:<base64>`, 32 bytes each; the last is current. Wraps the keys that encrypt secrets. */
  ENCRYPTION_KEYS: keyRing,
  /** The same format. Tokens and cookies are looked up by their HMAC under these keys. */
  TOKEN_PEPPERS: keyRing,
  /** The secret that lets a person create the first owner. Without it no owner can be created. */
  SETUP_TOKEN: z
    .string()
    .refine((token) => token === '' || token.length >= 16, 'must have at least 16 characters')
    .transform((token) => token || undefined)
    .optional(),
  /** `smtp://user:password@host:587` or `smtps://...:465`. Without it, links are shown instead of sent. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  SMTP_FROM: z.string().min(3).default('Gantry <gantry@localhost>'),
  /** Copies of each JetStream message: 3 in a cluster of three NATS servers or more. */
  NATS_STREAM_REPLICAS: z.coerce
    .number()
    .pipe(z.union([z.literal(1), z.literal(3), z.literal(5)]))
    .default(1),
  OUTBOUND_ALLOW_CIDRS: outboundAllowList,
  /** Addresses at which tools of `/mcp` reach the other two surfaces; their public addresses when absent. */
  AUTOMATION_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  SKILLS_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** OpenID Connect provider for sign-in, beside passwords. Redirect URI: `<DASHBOARD_URL>/auth/oidc/callback`. */
  OIDC_ISSUER: z.url().optional(),
  OIDC_CLIENT_ID: z.string().min(1).default('gantry'),
  OIDC_CLIENT_SECRET: z.string().default(''),
  OIDC_SCOPES: z.string().min(1).default('openid email profile'),
  OIDC_NAME: z.string().min(1).max(50).default('single sign-on'),
  /** People who may sign in without an account: those who are invited, or every person whom the provider knows. */
  OIDC_SIGN_UP: z.enum(['invited', 'anyone']).default('invited'),
  /** OAuth clients of services that workspaces connect, as JSON by app; see docs/connections.md. */
  OAUTH_APPS: oauthApps,
  /** Models for the chat, as JSON; see docs/models.md. Keys stay in this process. */
  MODEL_PROVIDERS: modelProviders,
  /** Short names for the models, such as `{"smart": "local/qwen3"}`. */
  MODEL_ALIASES: modelAliases,
  /** Estimated price that budgets are checked against; only the operator knows the real cost. 0 disables it. */
  COMPUTE_USD_PER_CPU_HOUR: z.coerce.number().min(0).max(1_000).default(0.04),
  AUDIT_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(365),
});

export const envSchema = envVariables.superRefine(({ MODEL_ALIASES: aliases, MODEL_PROVIDERS: providers }, context) => {
  for (const message of listAliasProblems(aliases, providers)) {
    context.addIssue({ code: 'custom', path: ['MODEL_ALIASES'], message });
  }
});

export type Env = z.infer<typeof envSchema>;

/** Returns undefined where no provider is configured. */
export function getOidcSettings(env: Env): OidcSettings | undefined {
  if (!env.OIDC_ISSUER) return undefined;
  return {
    issuer: env.OIDC_ISSUER,
    clientId: env.OIDC_CLIENT_ID,
    clientSecret: env.OIDC_CLIENT_SECRET,
    scopes: env.OIDC_SCOPES,
    name: env.OIDC_NAME,
    signUp: env.OIDC_SIGN_UP,
  };
}
