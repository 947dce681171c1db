/** Changes of the providers that a workspace offers models of: row and audit entry commit together. */
import { type AppError, conflict, invalid, notFound } from '@gantry/errors';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { formatNameSuggestions } from '../connection-tools/nearest-names';
import { findConnection } from '../connections/connection-repository';
import type { Db } from '../database';
import type { ModelProvider } from '../generated/prisma/client';
import { findProviderUrlProblem } from '../integrations/custom-provider';
import type { ModelDeps } from './model-deps';
import { modelPrices } from './model-settings';
import {
  deleteModelProvider,
  getModelProvider,
  insertModelProvider,
  listModelProviders,
  lockModelProviders,
  updateModelProvider,
} from './provider-repository';
import { findKeyProblem, findProviderUrl } from './workspace-provider';

const PROVIDERS_MAX = 20;

type NewModelProvider = OperationCall<'worker', 'createModelProvider'>['body'];
type ModelProviderChange = OperationCall<'worker', 'updateModelProvider'>['body'];
type Prices = OperationCall<'worker', 'setModelPrices'>['body']['prices'];

type RequestedProvider = Pick<ModelProvider, 'kind' | 'connectionId' | 'baseUrl' | 'models'> & { prices: Prices };

/** @throws AppError 400; 409 `name_taken`, `too_many_providers` */
export async function createModelProvider(
  deps: ModelDeps,
  { caller, actor, markCreated }: Requester,
  body: NewModelProvider,
): Promise<ModelProvider> {
  const { workspaceId } = caller;
  const { name, kind, connection_id: connectionId, models, prices = {}, base_url: baseUrl = null } = body;
  const requestedProvider = { kind, connectionId, baseUrl, models, prices };
  await requireUsable(deps, workspaceId, requestedProvider);
  return transaction(deps.prisma, async (tx) => {
    await lockModelProviders(tx, workspaceId);
    const present = await listModelProviders(tx, workspaceId);
    if (deps.models.reservedNames.has(name) || present.some((one) => one.name === name)) {
      throw conflict('name_taken', `name: a provider named "${name}" already exists; choose another name`);
    }
    if (present.length >= PROVIDERS_MAX) {
      throw conflict('too_many_providers', `a workspace can have at most ${PROVIDERS_MAX} providers of its own`);
    }
    const { timeout_seconds: timeoutSeconds = null, max_output_tokens: maxOutputTokens = null } = body;
    const row = {
      ...requestedProvider,
      workspaceId,
      name,
      timeoutSeconds,
      maxOutputTokens,
      createdBy: findOwnerId(caller),
    };
    const provider = await insertModelProvider(tx, row);
    await recordChange(tx, actor, 'model_provider.created', { workspaceId, id: name }, toAuditDetails(provider));
    await markCreated(tx, name);
    return provider;
  });
}

/** @throws AppError 400, 404 */
export function editModelProvider(
  deps: ModelDeps,
  { caller: { workspaceId }, actor }: Requester,
  name: string,
  body: ModelProviderChange,
): Promise<ModelProvider> {
  return transaction(deps.prisma, async (tx) => {
    const before = await lockModelProvider(tx, workspaceId, name);
    const { connection_id: connectionId = before.connectionId, models = before.models } = body;
    const {
      base_url: baseUrl = before.baseUrl,
      timeout_seconds: timeoutSeconds,
      max_output_tokens: maxOutputTokens,
    } = body;
    const prices = body.prices ?? resolvePrices(before, models);
    await requireUsable(deps, workspaceId, { kind: before.kind, connectionId, baseUrl, models, prices });
    const provider = await updateModelProvider(tx, before, {
      connectionId,
      models,
      baseUrl,
      prices,
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    });
    const details = { ...toAuditDetails(provider), fields: Object.keys(body) };
    await recordChange(tx, actor, 'model_provider.updated', { workspaceId, id: name }, details);
    return provider;
  });
}

/** @throws AppError 404 */
export function removeModelProvider(
  deps: ModelDeps,
  { caller: { workspaceId }, actor }: Requester,
  name: string,
): Promise<void> {
  return transaction(deps.prisma, async (tx) => {
    if (!(await deleteModelProvider(tx, workspaceId, name))) throw notFound('provider', name);
    await recordChange(tx, actor, 'model_provider.deleted', { workspaceId, id: name });
  });
}

/**
 * Sets prices of the named models alone; null removes one.
 * @throws AppError 400 for a model of the operator, 404 for what the workspace does not offer
 */
export function setModelPrices(
  deps: ModelDeps,
  { caller: { workspaceId }, actor }: Requester,
  priceChanges: Record<string, Prices[string] | null>,
): Promise<void> {
  return transaction(deps.prisma, async (tx) => {
    await lockModelProviders(tx, workspaceId);
    const providers = (await listModelProviders(tx, workspaceId)).filter(
      ({ name }) => !deps.models.reservedNames.has(name),
    );
    const owners = new Map<string, ModelProvider>(
      providers.flatMap((one) => one.models.map((model) => [`${one.name}/${model}`, one] as const)),
    );
    const unknown = Object.keys(priceChanges).find((id) => !owners.has(id));
    if (unknown !== undefined) throw createNotOwnModelError(deps, unknown, [...owners.keys()]);
    for (const provider of new Set(Object.keys(priceChanges).flatMap((id) => owners.get(id) ?? []))) {
      const prices = resolvePrices(provider, provider.models);
      for (const model of provider.models) {
        const price = priceChanges[`${provider.name}/${model}`];
        if (price === null) delete prices[model];
        else if (price !== undefined) prices[model] = price;
      }
      requirePrices(prices, provider.models, (model) => `prices.${provider.name}/${model}`);
      await updateModelProvider(tx, provider, { prices });
      await recordChange(tx, actor, 'model_provider.priced', { workspaceId, id: provider.name }, { prices });
    }
  });
}

function createNotOwnModelError({ models: { reservedNames } }: ModelDeps, id: string, own: string[]): AppError {
  if (reservedNames.has(id.slice(0, id.indexOf('/')))) {
    return createInvalidFieldError(`prices.${id}`, 'belongs to the operator, who sets its price in MODEL_PROVIDERS');
  }
  return notFound('model', id, `among this workspace's own models${formatNameSuggestions(id, own)}`);
}

async function lockModelProvider(tx: Db, workspaceId: string, name: string): Promise<ModelProvider> {
  await lockModelProviders(tx, workspaceId);
  return getModelProvider(tx, workspaceId, name);
}

/** Those of models that stay. */
function resolvePrices(provider: ModelProvider, models: string[]): Prices {
  // Bounded: 100 models (ModelNames) and 100 prices (PricesByModel of the OpenAPI document).
  return Object.fromEntries(Object.entries(provider.prices as Prices).filter(([model]) => models.includes(model)));
}

/** @throws AppError 400 naming what is wrong: the address, the connection, the prices */
async function requireUsable(
  deps: ModelDeps,
  workspaceId: string,
  requestedProvider: RequestedProvider,
): Promise<void> {
  const { kind, connectionId, baseUrl, models, prices } = requestedProvider;
  if (findProviderUrl({ kind, baseUrl }) === null) throw createInvalidFieldError('base_url', `is required for ${kind}`);
  const problem = baseUrl === null ? null : findProviderUrlProblem(baseUrl, deps.outboundAllow);
  if (problem !== null) throw createInvalidFieldError('base_url', problem);
  const connection = await findConnection(deps.prisma, workspaceId, connectionId);
  const unusable = findKeyProblem({ kind, baseUrl }, connection ?? undefined);
  if (!connection) throw notFound('connection', connectionId);
  if (unusable !== null) throw createInvalidFieldError('connection_id', unusable);
  requirePrices(prices, models, (model) => `prices.${model}`);
}

/** @throws AppError 400 */
function requirePrices(prices: Prices, models: string[], toPath: (model: string) => string): void {
  // Bounded: 100 models (ModelNames) and 100 prices (PricesByModel of the OpenAPI document).
  const foreign = Object.keys(prices).filter((model) => !models.includes(model));
  if (foreign.length)
    throw invalid(foreign.map((model) => ({ path: toPath(model), message: 'is not listed in models' })));
  const { error } = modelPrices.safeParse(prices);
  if (!error) return;
  const problems = error.issues.map(({ path: [model, ...rest], message }) => ({
    path: [toPath(String(model)), ...rest].join('.'),
    message,
  }));
  throw invalid(problems);
}

const createInvalidFieldError = (path: string, message: string): AppError => invalid([{ path, message }]);

const toAuditDetails = ({ kind, connectionId, models }: ModelProvider) => ({
  kind,
  connection_id: connectionId,
  models,
});
