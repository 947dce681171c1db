/**
 * The services that a workspace can connect, with the OAuth client that counts for each: its own, or the operator's.
 */
import { conflict, notFound } from '@gantry/errors';
import type { OauthApp } from '../generated/prisma/client';
import { findOauthApp, listOauthApps } from './app-repository';
import { catalogApps, findProvider, providers } from './catalog';
import type { Provider } from './catalog/provider';
import { buildProvider } from './custom-provider';
import type { IntegrationDeps } from './integration-deps';
import { customProvider, type OauthApps } from './oauth-apps';

export interface OauthClientCredentials {
  id: string;
  /** Undefined: a public client. */
  secret: string | undefined;
}

export interface Integration {
  provider: Provider;
  /** Set by the workspace or by the operator; null: the client is not set. */
  configured: 'workspace' | 'operator' | null;
  clientId: string | null;
}

/** The address to which providers send browsers back. */
export const buildRedirectUri = ({ dashboardUrl }: Pick<IntegrationDeps, 'dashboardUrl'>): string =>
  `${dashboardUrl}/auth/connections/callback`;

/** That of one issuer alone, so that what another one sends is not taken for its answer. */
export const buildIssuerRedirectUri = (deps: Pick<IntegrationDeps, 'dashboardUrl'>, digest: string): string =>
  `${buildRedirectUri(deps)}/${digest}`;

export const toAppAssociatedData = (slug: string, version: number) => ({ table: 'oauth_apps', name: slug, version });

/** The catalogue, the operator's own services and the workspace's, by name. */
export async function listIntegrations(deps: IntegrationDeps, workspaceId: string): Promise<Integration[]> {
  const apps = new Map((await listOauthApps(deps.prisma, workspaceId)).map((app) => [app.slug, app]));
  const own = [...apps.values()].flatMap((app) => toCustomProvider(app) ?? []);
  const names = new Set(own.map(({ slug }) => slug));
  const all = [...providers, ...own, ...listOperatorProviders(deps).filter(({ slug }) => !names.has(slug))];
  return all
    .map((provider) => toIntegration(deps, provider, apps.get(provider.app)))
    .sort((a, b) => (a.provider.name.toLowerCase() < b.provider.name.toLowerCase() ? -1 : 1));
}

/** Null if there is no such service. */
export async function findIntegration(
  deps: IntegrationDeps,
  workspaceId: string,
  slug: string,
): Promise<Integration | null> {
  const known = findProvider(slug);
  const app = await findOauthApp(deps.prisma, workspaceId, known?.app ?? slug);
  const provider =
    known ?? (app && toCustomProvider(app)) ?? listOperatorProviders(deps).find(({ slug: name }) => name === slug);
  return provider ? toIntegration(deps, provider, app ?? undefined) : null;
}

/** @throws AppError 404 */
export async function getIntegration(deps: IntegrationDeps, workspaceId: string, slug: string): Promise<Integration> {
  const integration = await findIntegration(deps, workspaceId, slug);
  if (!integration)
    throw notFound('app', slug, 'in the catalogue; an admin can add it with PUT /api/integrations/apps');
  return integration;
}

/** @throws AppError 409 `app_not_configured` that says how to set one */
export async function resolveClient(
  deps: IntegrationDeps,
  workspaceId: string,
  provider: Provider,
): Promise<OauthClientCredentials> {
  const app = await findOauthApp(deps.prisma, workspaceId, provider.app);
  if (app) {
    const { clientId, clientSecret, version } = app;
    const secret = clientSecret
      ? await deps.vault.open(workspaceId, toAppAssociatedData(app.slug, version), clientSecret)
      : undefined;
    return { id: clientId, secret };
  }
  const operators = deps.oauthApps[provider.app];
  if (!operators) throw conflict('app_not_configured', describeMissingClient(deps, provider));
  return { id: operators.client_id, secret: operators.client_secret };
}

export const describeMissingClient = (deps: Pick<IntegrationDeps, 'dashboardUrl'>, { name, app }: Provider): string =>
  `there is no OAuth client for ${name} yet: register one with ${name}, using the redirect URI ` +
  `${buildRedirectUri(deps)}, then have a workspace admin set the client's ID and secret with ` +
  `PUT /api/integrations/apps/${app}, or have the operator set them in OAUTH_APPS`;

function toIntegration({ oauthApps }: IntegrationDeps, provider: Provider, app: OauthApp | undefined): Integration {
  if (app) return { provider, configured: 'workspace', clientId: app.clientId };
  const operators = oauthApps[provider.app];
  if (operators) return { provider, configured: 'operator', clientId: operators.client_id };
  return { provider, configured: null, clientId: null };
}

/** Null: the catalogue has it. */
export function toCustomProvider({ slug, provider }: Pick<OauthApp, 'slug' | 'provider'>): Provider | null {
  const parsed = customProvider.safeParse(provider);
  return parsed.success ? buildProvider(slug, parsed.data) : null;
}

/**
 * Clients of the operator that no connection can use, in words: their app is not known, or known without a `provider`.
 */
export const listUnusedApps = (apps: OauthApps): string[] =>
  Object.entries(apps).flatMap(([slug, { provider }]) => {
    if (catalogApps.has(slug))
      return provider ? [`${slug}: provider is ignored because the catalogue has this app's URLs`] : [];
    return provider ? [] : [`${slug}: this app is not in the catalogue, so it needs a provider with the app's URLs`];
  });

const listOperatorProviders = ({ oauthApps }: IntegrationDeps): Provider[] =>
  Object.entries(oauthApps).flatMap(([slug, { provider }]) =>
    provider && !catalogApps.has(slug) && !findProvider(slug) ? [buildProvider(slug, provider)] : [],
  );
