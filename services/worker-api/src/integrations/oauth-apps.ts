/** OAuth clients that the operator has: the variable OAUTH_APPS. */
import { parseJson } from '@gantry/http';
import { z } from 'zod';

const SLUG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const address = z.string().min(1).max(2_048);

/** A service that the catalogue does not have, as the variable and the API describe it. */
export const customProvider = z.strictObject({
  protocol: z.enum(['oauth2', 'oidc']),
  name: z.string().min(1).max(120),
  issuer: address.optional(),
  authorize_url: address,
  token_url: address,
  revoke_url: address.optional(),
  userinfo_url: address.optional(),
  hosts: z.array(z.string()).max(20),
  scopes: z.array(z.string().min(1).max(200)).max(100).optional(),
  client_auth: z.enum(['basic', 'post']).optional(),
});
export type CustomProvider = z.infer<typeof customProvider>;

const oauthApp = z.strictObject({
  client_id: z.string().min(1).max(500),
  client_secret: z.string().min(1).max(4_096).optional(),
  provider: customProvider.optional(),
});

const oauthAppsBySlug = z.record(z.string().regex(SLUG, 'must be an app slug, such as github'), oauthApp);

/** OAuth clients by the slug of the app. */
export type OauthApps = z.infer<typeof oauthAppsBySlug>;

/** `{"github": {"client_id": "...", "client_secret": "..."}}`; an app that the catalogue does not have brings its `provider`. */
export const oauthApps = z
  .string()
  .default('')
  .transform((text, context): OauthApps => {
    if (text.trim() === '') return {};
    const json = parseJson(text);
    const parsed = oauthAppsBySlug.safeParse(json);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const message =
      json === undefined
        ? 'must be valid JSON, for example {"github": {"client_id": "...", "client_secret": "..."}}'
        : `${issue?.path.join('.') || 'the whole'}: ${issue?.message}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
