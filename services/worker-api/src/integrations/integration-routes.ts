import { conflict, invalid, notFound } from '@gantry/errors';
import { noContent, type OperationCall, type Operations, ok, respondWithPage, toApiFields } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import type { Connection, Prisma } from '../generated/prisma/client';
import { countOauthApps, deleteOauthApp, findOauthApp, insertOauthApp, updateOauthApp } from './app-repository';
import { catalogApps, findProvider } from './catalog';
import type { CatalogTool } from './catalog/provider';
import { buildProvider, requireValidProvider } from './custom-provider';
import type { IntegrationDeps } from './integration-deps';
import {
  buildRedirectUri,
  describeMissingClient,
  getIntegration,
  type Integration,
  listIntegrations,
  toAppAssociatedData,
  toCustomProvider,
} from './integrations';

const APPS_MAX = 100;

export interface IntegrationRouteDeps extends IntegrationDeps {
  now: () => Date;
  /** In the transaction that gives an app other addresses. */
  expireConnections(tx: Prisma.TransactionClient, connections: Pick<Connection, 'workspaceId' | 'app'>): Promise<void>;
}

export function createIntegrationOperations(deps: IntegrationRouteDeps): Operations<'worker'> {
  return {
    listIntegrations: async (call) => {
      const integrations = await listIntegrations(deps, call.caller.workspaceId);
      return respondWithPage(call, integrations, (integration) => integrationToApi(deps, call.caller, integration));
    },
    listIntegrationTools: async (call) => {
      const { provider } = await getIntegration(deps, call.caller.workspaceId, call.path.slug);
      return respondWithPage(call, [...provider.tools], toolToApi);
    },
    setIntegrationApp: async (call) => {
      await upsertOauthApp(deps, call);
      const { slug } = call.path;
      // Any one of the entries that share the client says the same.
      const integrations = await listIntegrations(deps, call.caller.workspaceId);
      const integration = integrations.find(({ provider }) => provider.app === slug);
      if (!integration) throw notFound('app', slug);
      return ok(appToApi(deps, call.caller, integration));
    },
    deleteIntegrationApp: async ({ caller: { workspaceId }, actor, path: { slug } }) => {
      await transaction(deps.prisma, async (tx) => {
        if (!(await deleteOauthApp(tx, workspaceId, slug))) throw notFound('app', slug);
        await recordChange(tx, actor, 'integration_app.deleted', { workspaceId, id: slug });
      });
      return noContent();
    },
  };
}

export const toolToApi = ({ name, description, inputSchema, isChanged, request }: ToolView) => ({
  name,
  description,
  input_schema: inputSchema,
  ...(isChanged !== undefined && { changed: isChanged }),
  ...(request && { request: { method: request.method, url: request.url } }),
});

/** A tool of the catalogue, or of an MCP server. */
type ToolView = Omit<CatalogTool, 'request'> & { isChanged?: boolean; request?: CatalogTool['request'] };

async function upsertOauthApp(
  deps: IntegrationRouteDeps,
  { caller, actor, path, body }: OperationCall<'worker', 'setIntegrationApp'>,
): Promise<void> {
  const { prisma, vault } = deps;
  const { workspaceId } = caller;
  const { slug } = path;
  const { client_id: clientId, client_secret: secret, provider } = body;
  const present = await findOauthApp(prisma, workspaceId, slug);
  const isInCatalogue = catalogApps.has(slug);
  if (provider && (isInCatalogue || findProvider(slug))) {
    throw invalid([{ path: 'provider', message: `the catalogue already has the URLs for ${slug}; omit provider` }]);
  }
  if (provider) requireValidProvider(provider, deps.outboundAllow);
  if (!provider && !isInCatalogue && !present) {
    const known = findProvider(slug);
    if (known)
      throw invalid([{ path: 'slug', message: `set the OAuth client for ${known.name} under "${known.app}"` }]);
    throw invalid([{ path: 'provider', message: `is required because "${slug}" is not in the catalogue` }]);
  }
  const version = present ? present.version + 1 : 1;
  const isMoved =
    provider !== undefined &&
    buildProvider(slug, provider).addressDigest !== (present && toCustomProvider(present))?.addressDigest;
  // A secret that was meant for other addresses stays at none.
  const openStoredSecret = async () =>
    present?.clientSecret && !isMoved
      ? vault.open(workspaceId, toAppAssociatedData(slug, present.version), present.clientSecret)
      : Promise.resolve(null);
  const value = secret === undefined ? await openStoredSecret() : secret;
  const clientSecret =
    value === null ? null : new Uint8Array(await vault.seal(workspaceId, toAppAssociatedData(slug, version), value));
  await transaction(prisma, async (tx) => {
    const fields = { clientId, clientSecret, ...(provider && { provider }) };
    if (!present && (await countOauthApps(tx, workspaceId)) >= APPS_MAX) {
      throw conflict('too_many_apps', `a workspace can have at most ${APPS_MAX} OAuth clients of its own`);
    }
    const isWritten = present
      ? await updateOauthApp(tx, workspaceId, slug, present.version, fields)
      : await insertOauthApp(tx, {
          workspaceId,
          slug,
          ...fields,
          createdBy: findOwnerId(caller),
          updatedAt: deps.now(),
        });
    if (!isWritten)
      throw conflict('changed_meanwhile', 'another person has just changed this app; reload it and try again');
    if (isMoved) await deps.expireConnections(tx, { workspaceId, app: slug });
    const details = { client_id: clientId, secret: value === null ? 'none' : secret === undefined ? 'kept' : 'set' };
    await recordChange(tx, actor, 'integration_app.set', { workspaceId, id: slug }, details);
  });
}

function integrationToApi(deps: IntegrationDeps, caller: Principal, integration: Integration) {
  const { provider } = integration;
  const { protocol, scopes, parameters, tools } = provider;
  return {
    ...toApiFields(provider, 'slug', 'name', 'description', 'category', 'logo', 'hosts', 'docsUrl'),
    kind: protocol === 'oidc' ? 'oidc' : 'oauth',
    scopes: scopes.map((scope) => ({ ...scope, default: scope.default ?? false })),
    parameters: parameters ?? [],
    tools_count: tools.length,
    app: appToApi(deps, caller, integration),
  };
}

function appToApi(deps: IntegrationDeps, { role }: Principal, { provider, configured, clientId }: Integration) {
  return {
    slug: provider.app,
    configured,
    client_id: hasRoleAtLeast(role, 'member') ? clientId : null,
    redirect_uri: buildRedirectUri(deps),
    how: configured === null ? describeMissingClient(deps, provider) : null,
  };
}
