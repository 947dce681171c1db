import { AppError } from '@gantry/errors';
import type { Db } from '../../database';
import type { OauthClient } from '../../generated/prisma/client';
import { isDocumentUrl } from '../grants/client-id';
import { fetchClientDocument, type OutboundOptions } from './client-document';
import { findClient, upsertDocumentClient } from './oauth-client-repository';

/** A document is fetched again after this, whatever its caching headers say. */
const DOCUMENT_CACHE_MS = 60 * 60_000;

/** @throws AppError 400 `unknown_client`: shown to the person, as there is no address to redirect to */
export async function getClient(
  deps: OutboundOptions & { prisma: Db; now: () => Date },
  clientId: string,
): Promise<OauthClient> {
  const { prisma, now } = deps;
  const storedClient = await findClient(prisma, clientId);
  if (!isDocumentUrl(clientId)) {
    if (storedClient) return storedClient;
    throw new AppError('invalid', 'unknown_client', 'no client is registered under this client_id');
  }
  if (storedClient?.readAt && now().getTime() - storedClient.readAt.getTime() < DOCUMENT_CACHE_MS) return storedClient;
  return upsertDocumentClient(prisma, clientId, await fetchClientDocument(deps, clientId), now());
}
