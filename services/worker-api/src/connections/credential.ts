/** The sealed part of a connection's row: a key, headers, or tokens. */
import { isDependencyDown } from '@gantry/errors';
import type { Vault } from '@gantry/vault';
import { z } from 'zod';
import type { Connection } from '../generated/prisma/client';
import type { ConnectionDeps } from './connection-deps';

/** Hosts that the value may go to, as the row had them. Absent: it was sealed before they were sealed with it. */
const hosts = z.array(z.string()).optional();

const credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api_key'), value: z.string() }),
  z.object({ kind: z.literal('mcp'), headers: z.record(z.string(), z.string()) }),
  z.object({
    kind: z.literal('oauth'),
    accessToken: z.string(),
    refreshToken: z.string().nullable(),
    /** The OAuth client that it was given to. */
    clientId: z.string(),
    /**
     * Digest of the addresses of the provider that issued it: see Provider. Absent: of the catalogue, or given before
     * grants were bound to addresses.
     */
    addressDigest: z.string().optional(),
  }),
]);

export type Credential = z.infer<typeof credential>;
export type OauthGrantCredential = Extract<Credential, { kind: 'oauth' }>;

const sealedCredential = credential.and(z.object({ hosts }));

type CredentialHolder = Pick<Connection, 'id' | 'workspaceId' | 'version' | 'hosts'>;

const buildAssociatedData = ({ id, version }: Pick<CredentialHolder, 'id' | 'version'>) => ({
  table: 'connections',
  name: `credential:${id}`,
  version,
});

/** For the row at that version, with those hosts. Call it before the transaction that writes it. */
export const sealCredential = async (vault: Vault, holder: CredentialHolder, value: Credential) => {
  const sealed = JSON.stringify({ ...value, hosts: holder.hosts });
  return new Uint8Array(await vault.seal(holder.workspaceId, buildAssociatedData(holder), sealed));
};

/** Null: nothing is stored. @throws Error if it does not decrypt, or was sealed for other hosts */
export async function openCredential(
  vault: Vault,
  connection: CredentialHolder & Pick<Connection, 'sealed'>,
): Promise<Credential | null> {
  if (!connection.sealed) return null;
  const text = await vault.open(connection.workspaceId, buildAssociatedData(connection), connection.sealed);
  const { hosts, ...value } = sealedCredential.parse(JSON.parse(text));
  if (hosts && hosts.join() !== connection.hosts.join()) {
    throw new Error(`the credential of ${connection.id} was sealed for hosts other than those in its row`);
  }
  return value;
}

/** Null: nothing is stored, or what is stored does not decrypt, which is logged. */
export async function openCredentialOrNull(
  { vault, log }: Pick<ConnectionDeps, 'vault' | 'log'>,
  connection: CredentialHolder & Pick<Connection, 'sealed'>,
): Promise<Credential | null> {
  return openCredential(vault, connection).catch((err) => {
    if (isDependencyDown(err)) throw err;
    log.error({ err, connectionId: connection.id }, 'a connection credential cannot be decrypted');
    return null;
  });
}

const buildRevocationAssociatedData = (id: string) => ({
  table: 'connection_revocations',
  name: `revoked:${id}`,
  version: 1,
});

export const sealRevokedGrant = async (vault: Vault, workspaceId: string, id: string, grant: OauthGrantCredential) =>
  new Uint8Array(await vault.seal(workspaceId, buildRevocationAssociatedData(id), JSON.stringify(grant)));

export async function openRevokedGrant(
  vault: Vault,
  workspaceId: string,
  id: string,
  sealed: Uint8Array,
): Promise<OauthGrantCredential> {
  const text = await vault.open(workspaceId, buildRevocationAssociatedData(id), sealed);
  const opened = credential.parse(JSON.parse(text));
  if (opened.kind !== 'oauth') throw new Error(`revocation ${id} contains no tokens`);
  return opened;
}
