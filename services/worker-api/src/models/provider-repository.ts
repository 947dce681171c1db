/** Rows of providers that workspaces offer models of. */
import { notFound } from '@gantry/errors';
import type { Db } from '../database';
import type { ModelProvider, Prisma } from '../generated/prisma/client';

export const listModelProviders = (db: Db, workspaceId: string): Promise<ModelProvider[]> =>
  db.modelProvider.findMany({ where: { workspaceId }, orderBy: { name: 'asc' } });

/** @throws AppError 404 */
export async function getModelProvider(db: Db, workspaceId: string, name: string): Promise<ModelProvider> {
  const provider = await db.modelProvider.findUnique({ where: { workspaceId_name: { workspaceId, name } } });
  if (!provider) throw notFound('provider', name);
  return provider;
}

/** Keeps others from making or changing one in this workspace until the transaction ends. */
export const lockModelProviders = (tx: Db, workspaceId: string): Promise<unknown> =>
  tx.$queryRaw`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtextextended(${`model providers ${workspaceId}`}, 0))`;

export const insertModelProvider = (
  tx: Db,
  provider: Prisma.ModelProviderUncheckedCreateInput,
): Promise<ModelProvider> => tx.modelProvider.create({ data: provider });

export const updateModelProvider = (
  tx: Db,
  { workspaceId, name }: Pick<ModelProvider, 'workspaceId' | 'name'>,
  change: Prisma.ModelProviderUncheckedUpdateInput,
): Promise<ModelProvider> =>
  tx.modelProvider.update({ where: { workspaceId_name: { workspaceId, name } }, data: change });

export async function deleteModelProvider(tx: Db, workspaceId: string, name: string): Promise<boolean> {
  const { count } = await tx.modelProvider.deleteMany({ where: { workspaceId, name } });
  return count > 0;
}

/** Names of those that have the connection as their key. */
export async function listProvidersWithKey(db: Db, workspaceId: string, connectionId: string): Promise<string[]> {
  const providers = await db.modelProvider.findMany({ where: { workspaceId, connectionId }, select: { name: true } });
  return providers.map(({ name }) => name);
}
