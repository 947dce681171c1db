/** The sealed part of a connection's row: a key, headers, or tokens. */
import { isDependencyDown } from '@gantry/http';
import type { Vault } from '@gantry/vault';
import { z } from 'zod';
import type { Deps } from '../deps';
import type { Connection } from '../generated/prisma/client';

const credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api_key'), value: z.string() }),
  z.object({ kind: z.literal('mcp'), headers: z.record(z.string(), z.string()) }),
  z.object({
    kind: z.literal('oauth'),
    accessToken: z.string(),
    refreshToken: z.string().nullable(),
    /** The OAuth client that it was given to. */
    clientId: z.string(),
  }),
]);

export type Credential = z.infer<typeof credential>;
export type Grant = Extract<Credential, { kind: 'oauth' }>;

type Holder = Pick<Connection, 'id' | 'workspaceId' | 'version'>;

const boundTo = ({ id, version }: Holder) => ({ table: 'connections', name: `credential:${id}`, version });

/** For the row at that version. Call it before the transaction that writes it. */
export const sealCredential = async (vault: Vault, holder: Holder, value: Credential) =>
  new Uint8Array(await vault.seal(holder.workspaceId, boundTo(holder), JSON.stringify(value)));

/** Null: nothing is stored. @throws Error if it does not decrypt */
export async function openCredential(
  vault: Vault,
  connection: Holder & Pick<Connection, 'sealed'>,
): Promise<Credential | null> {
  if (!connection.sealed) return null;
  const text = await vault.open(connection.workspaceId, boundTo(connection), connection.sealed);
  return credential.parse(JSON.parse(text));
}

/** Null: nothing is stored, or what is stored does not decrypt, which is logged. */
export async function readCredential(
  { vault, log }: Pick<Deps, 'vault' | 'log'>,
  connection: Holder & Pick<Connection, 'sealed'>,
): Promise<Credential | null> {
  return openCredential(vault, connection).catch((err) => {
    if (isDependencyDown(err)) throw err;
    log.error({ err, connectionId: connection.id }, 'the credential of a connection does not decrypt');
    return null;
  });
}

const REVOCATIONS = 'connection_revocations';

export const sealRevoked = async (vault: Vault, workspaceId: string, id: string, grant: Grant) =>
  new Uint8Array(
    await vault.seal(workspaceId, { table: REVOCATIONS, name: `revoked:${id}`, version: 1 }, JSON.stringify(grant)),
  );

export async function openRevoked(vault: Vault, workspaceId: string, id: string, sealed: Uint8Array): Promise<Grant> {
  const text = await vault.open(workspaceId, { table: REVOCATIONS, name: `revoked:${id}`, version: 1 }, sealed);
  const opened = credential.parse(JSON.parse(text));
  if (opened.kind !== 'oauth') throw new Error(`revocation ${id} holds no tokens`);
  return opened;
}
