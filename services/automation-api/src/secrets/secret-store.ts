/** Secrets of a workspace: sealed in the database, opened only when a run that declares them is handed out. */
import { AppError, invalid, notFound } from '@gantry/http';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Audit } from '../audit/audit';
import { executeIn } from '../database';
import type { PrismaClient } from '../generated/prisma/client';

export interface SecretEntry {
  name: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface SecretStore {
  set(
    workspaceId: string,
    secret: { name: string; value: string; createdBy: string | null },
    audit: Audit,
  ): Promise<SecretEntry & { isNew: boolean }>;
  list(workspaceId: string): Promise<SecretEntry[]>;
  /** @throws AppError 404 */
  delete(workspaceId: string, name: string, audit: Audit): Promise<void>;
  /** Values by name; those that are not set are absent. */
  reveal(workspaceId: string, names: string[]): Promise<Record<string, string>>;
  /** Those of `names` that are not set. */
  missing(workspaceId: string, names: string[]): Promise<string[]>;
}

const VALUE_BYTES_MAX = 32 * 1024;
/** More would not fit into a job together. */
const SECRETS_MAX = 500;
const TABLE = 'secrets';
const ENTRY = { name: true, createdAt: true, updatedAt: true } as const;

export function createSecretStore({ db, pool, vault }: { db: PrismaClient; pool: Pool; vault: Vault }): SecretStore {
  return {
    set: async (workspaceId, { name, value, createdBy }, audit) => {
      checkValue(value);
      // The value is bound to its version, so it is sealed for the one that the row will get; who comes second tries again.
      for (;;) {
        const found = await db.secret.findUnique({ where: { workspaceId_name: { workspaceId, name } } });
        const version = (found?.version ?? 0) + 1;
        const sealed = await sealedBytes(vault, workspaceId, name, version, value);
        if (!found && (await db.secret.count({ where: { workspaceId } })) >= SECRETS_MAX) {
          throw new AppError('conflict', 'too_many_secrets', `a workspace holds at most ${SECRETS_MAX} secrets`);
        }
        const entry = await db.$transaction(async (tx) => {
          const { count } = found
            ? await tx.secret.updateMany({
                where: { workspaceId, name, version: found.version },
                data: { version, sealed },
              })
            : await tx.secret.createMany({
                data: [{ workspaceId, name, version, sealed, createdBy }],
                skipDuplicates: true,
              });
          if (!count) return null;
          const resource = { type: 'secret', id: name } as const;
          await audit(executeIn(tx), { action: 'secret.set', resource, details: { isNew: !found } });
          const where = { workspaceId_name: { workspaceId, name } };
          return tx.secret.findUniqueOrThrow({ where, select: ENTRY });
        });
        if (entry) return { ...entry, isNew: !found };
      }
    },

    list: (workspaceId) => db.secret.findMany({ where: { workspaceId }, orderBy: { name: 'asc' }, select: ENTRY }),

    delete: (workspaceId, name, audit) =>
      db.$transaction(async (tx) => {
        const { count } = await tx.secret.deleteMany({ where: { workspaceId, name } });
        if (!count) throw notFound('secret', name);
        await audit(executeIn(tx), { action: 'secret.deleted', resource: { type: 'secret', id: name } });
      }),

    reveal: async (workspaceId, names) => {
      if (!names.length) return {};
      // On the way of every run that has secrets: plain SQL costs a third of Prisma's time.
      const { rows } = await pool.query<{ name: string; version: number; sealed: Buffer }>({
        name: 'reveal-secrets',
        text: 'SELECT name, version, sealed FROM secrets WHERE workspace_id = $1 AND name = ANY($2)',
        values: [workspaceId, names],
      });
      const values = rows.map(async ({ name, version, sealed }) => {
        return [name, await vault.open(workspaceId, { table: TABLE, name, version }, sealed)] as const;
      });
      return Object.fromEntries(await Promise.all(values));
    },

    missing: async (workspaceId, names) => {
      if (!names.length) return [];
      const rows = await db.secret.findMany({ where: { workspaceId, name: { in: names } }, select: { name: true } });
      const set = new Set(rows.map(({ name }) => name));
      return names.filter((name) => !set.has(name));
    },
  };
}

/** Prisma wants bytes over an ArrayBuffer of their own. */
async function sealedBytes(vault: Vault, workspaceId: string, name: string, version: number, value: string) {
  return new Uint8Array(await vault.seal(workspaceId, { table: TABLE, name, version }, value));
}

function checkValue(value: string): void {
  const wrong = (message: string) => invalid([{ path: 'value', message }]);
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX) throw wrong(`is larger than ${VALUE_BYTES_MAX / 1024} KiB`);
  if (value.includes('\0')) throw wrong('contains a NUL character, which an environment variable can not');
}
