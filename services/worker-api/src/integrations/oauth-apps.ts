/** OAuth clients that the operator has: the variable OAUTH_APPS. */
import { z } from 'zod';
import { catalogApps } from './catalog';
import { customProvider } from './custom-provider';

const SLUG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const oauthApp = z.strictObject({
  client_id: z.string().min(1).max(500),
  client_secret: z.string().min(1).max(4_096).optional(),
  provider: customProvider.optional(),
});

/** By the slug of the app. */
export type OauthApps = Record<string, z.infer<typeof oauthApp>>;

/** `{"github": {"client_id": "...", "client_secret": "..."}}`; an app that the catalogue does not have brings its `provider`. */
export const oauthApps = z
  .string()
  .default('')
  .transform((text, context): OauthApps => {
    const wrong = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    if (text.trim() === '') return {};
    const json = parseJson(text);
    if (json === undefined)
      return wrong('must be JSON, such as {"github": {"client_id": "...", "client_secret": "..."}}');
    const parsed = z.record(z.string().regex(SLUG), oauthApp).safeParse(json);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return wrong(`${issue?.path.join('.') || 'the whole'}: ${issue?.message}`);
    }
    for (const [slug, { provider }] of Object.entries(parsed.data)) {
      if (!provider && !catalogApps.has(slug)) {
        return wrong(`${slug}: the catalogue has no such app, so it needs a provider with its addresses`);
      }
      if (provider && catalogApps.has(slug))
        return wrong(`${slug}: the catalogue has its addresses; leave provider out`);
    }
    return parsed.data;
  });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
