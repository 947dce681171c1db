/** Secrets of a workspace: sealed in the database, opened only when a run that declares them is handed out. */

import { conflict, invalid, isDependencyDown, notFound } from '@gantry/errors';
import { CREDENTIAL_CHARS_MAX, DEFAULT_CREDENTIAL_PLACES } from '@gantry/events';
import { listRows, type Tx, transaction, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import { assertHosts } from './host-patterns';
import type { Vault } from './vault';

export interface SecretEntry {
  name: string;
  /** The only ones that its value may be sent to. None: code gets the value itself. */
  hosts: string[];
  /** Where in requests to them: see `declaredPlace`. */
  places: string[];
  createdAt: Date;
  updatedAt: Date;
  /** Time it was last handed to a run, to the minute; null: never. */
  lastUsedAt: Date | null;
}

export interface SecretChange {
  action: 'secret.set' | 'secret.deleted';
  /** The secret's name. */
  id: string;
  details?: { isNew: boolean; hosts?: string[]; places?: string[] };
}

export interface NewSecret {
  name: string;
  value: string;
  /** Hosts as a person writes them. Absent: the present ones stay. */
  hosts?: string[] | undefined;
  /** Absent: the present ones stay. */
  places?: string[] | undefined;
  createdBy: string | null;
}

export interface OpenedSecret {
  name: string;
  value: string;
  hosts: string[];
  places: string[];
}

/** Writes the audit entry of the change inside its transaction. */
export type AuditSecret = (tx: Tx, change: SecretChange) => Promise<unknown>;

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Its row, its hosts or its key are not those that it was sealed with. */
export class UnreadableSecretError extends Error {
  constructor(name: string, cause: unknown) {
    super(`the stored value of the secret ${name} cannot be decrypted`, { cause });
  }
}

const VALUE_BYTES_MAX = 32 * 1024;
/** More would not fit into one job. */
const SECRETS_MAX = 500;
/**
 * Bounds the sealed values of a workspace together. Masking them builds a matcher that takes 350 times as much memory.
 */
const SEALED_BYTES_MAX = 256 * 1024;
const TABLE = 'secrets';

const ENTRY = 'name, hosts, places, created_at AS "createdAt", updated_at AS "updatedAt", last_used_at AS "lastUsedAt"';
const LIST = `SELECT ${ENTRY} FROM secrets WHERE workspace_id = $1 ORDER BY created_at DESC, name DESC`;
const FIND_EXISTING = `SELECT held.count, held.bytes, s.version, s.hosts, s.places, octet_length(s.sealed) AS size
  FROM (SELECT count(*)::int AS count, coalesce(sum(octet_length(sealed)), 0)::int AS bytes
    FROM secrets WHERE workspace_id = $1) held
  LEFT JOIN secrets s ON s.workspace_id = $1 AND s.name = $2`;
const INSERT = `INSERT INTO secrets (workspace_id, name, version, sealed, hosts, places, created_by, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now()) ON CONFLICT DO NOTHING RETURNING ${ENTRY}`;
const UPDATE = `UPDATE secrets SET version = $3, sealed = $4, hosts = $5, places = $6, updated_at = now()
  WHERE workspace_id = $1 AND name = $2 AND version = $3 - 1 RETURNING ${ENTRY}`;
const DELETE = 'DELETE FROM secrets WHERE workspace_id = $1 AND name = $2';
const REVEAL = `SELECT name, version, hosts, places, sealed, coalesce(last_used_at > now() - interval '1 minute', false) AS "isFresh"
  FROM secrets WHERE workspace_id = $1 AND name = ANY($2)`;
/** Skips locked rows: another writer is recording the same minute, or a new value. */
const UPDATE_LAST_USED = `UPDATE secrets SET last_used_at = now() FROM (
    SELECT name FROM secrets WHERE workspace_id = $1 AND name = ANY($2) ORDER BY name FOR UPDATE SKIP LOCKED
  ) AS used WHERE secrets.workspace_id = $1 AND secrets.name = used.name`;
const MISSING = `SELECT name FROM unnest($2::text[]) WITH ORDINALITY AS needed (name, place)
  WHERE NOT EXISTS (SELECT FROM secrets WHERE workspace_id = $1 AND secrets.name = needed.name) ORDER BY place`;

interface BoundSecret {
  name: string;
  version: number;
  hosts: string[];
}

interface SealedSecret extends BoundSecret {
  sealed: Buffer;
}

interface ExistingSecret {
  count: number;
  /** Sealed bytes of all values. */
  bytes: number;
  /** Sealed bytes of this one; null: it is not set. */
  size: number | null;
  version: number | null;
  hosts: string[] | null;
  places: string[] | null;
}

/** Both services that run code have the same `secrets` table, and only this file reads and writes it. */
export function createSecretStore({ pool, vault }: { pool: Pool; vault: Vault }) {
  const toAssociatedData = ({ name, version, hosts }: BoundSecret) => ({ table: TABLE, name, version, hosts });

  async function read(workspaceId: string, { sealed, ...row }: SealedSecret): Promise<string> {
    return vault.open(workspaceId, toAssociatedData(row), sealed).catch((err) => {
      throw isDependencyDown(err) ? err : new UnreadableSecretError(row.name, err);
    });
  }

  /** For a run: those that are set. @throws UnreadableSecretError */
  async function open(workspaceId: string, names: string[]): Promise<OpenedSecret[]> {
    if (!names.length) return [];
    const { rows } = await pool.query<SealedSecret & { places: string[]; isFresh: boolean }>({
      name: 'reveal-secrets',
      text: REVEAL,
      values: [workspaceId, names],
    });
    const stale = rows.filter(({ isFresh }) => !isFresh).map(({ name }) => name);
    if (stale.length) await pool.query(UPDATE_LAST_USED, [workspaceId, stale]);
    return Promise.all(
      rows.map(async ({ places, ...row }) => {
        const { name, hosts } = row;
        return { name, hosts, places, value: await read(workspaceId, row) };
      }),
    );
  }

  return {
    /** @throws AppError 400 for a value that cannot be stored, or sent to its hosts; 409 `too_many_secrets` */
    set: async (
      workspaceId: string,
      { name, value, hosts: given, places: givenPlaces, createdBy }: NewSecret,
      audit: AuditSecret,
    ): Promise<SecretEntry & { isNew: boolean }> => {
      assertValidValue(value);
      const chosen = given && assertHosts(given);
      // The value is bound to its version, so it is sealed for the next one; the loser of a race retries.
      for (;;) {
        const { rows: before } = await pool.query<ExistingSecret>(FIND_EXISTING, [workspaceId, name]);
        const { count = 0, bytes = 0, version: found = null, hosts: present = null, size } = before[0] ?? {};
        const isNew = found === null;
        if (isNew && count >= SECRETS_MAX) {
          throw conflict('too_many_secrets', `a workspace can have at most ${SECRETS_MAX} secrets`);
        }
        const hosts = chosen ?? present ?? [];
        const places = givenPlaces ?? before[0]?.places ?? [...DEFAULT_CREDENTIAL_PLACES];
        if (hosts.length) assertHeaderSafe(value);
        const version = (found ?? 0) + 1;
        const sealed = await vault.seal(workspaceId, toAssociatedData({ name, version, hosts }), value);
        const grownBy = sealed.length - (size ?? 0);
        if (grownBy > 0 && bytes + grownBy > SEALED_BYTES_MAX) {
          throw conflict('too_many_secrets', `a workspace's secrets can total at most ${SEALED_BYTES_MAX / 1024} KB`);
        }
        const row = [workspaceId, name, version, sealed, hosts, places];
        const entry = await transaction(pool, async (tx) => {
          const { rows } = isNew
            ? await tx.query<SecretEntry>(INSERT, [...row, createdBy])
            : await tx.query<SecretEntry>(UPDATE, row);
          if (!rows[0]) return null;
          await audit(tx, {
            action: 'secret.set',
            id: name,
            details: { isNew, ...(hosts.length && { hosts, places }) },
          });
          return rows[0];
        });
        if (entry) return { ...entry, isNew };
      }
    },

    /** Newest first. */
    list: (workspaceId: string): Promise<SecretEntry[]> => listRows(pool, LIST, [workspaceId]),

    /** @throws AppError 404 */
    delete: (workspaceId: string, name: string, audit: AuditSecret) =>
      transaction(pool, async (tx) => {
        if (!(await writeRow(tx, DELETE, [workspaceId, name]))) throw notFound('secret', name);
        await audit(tx, { action: 'secret.deleted', id: name });
      }),

    open,

    /** For a run: values by name, whatever their hosts; unset names are absent. @throws UnreadableSecretError */
    reveal: async (workspaceId: string, names: string[]): Promise<Record<string, string>> =>
      Object.fromEntries((await open(workspaceId, names)).map(({ name, value }) => [name, value])),

    /** All values that decrypt, to be masked in what leaves. Does not count as a use. */
    valuesOf: async (workspaceId: string): Promise<string[]> => {
      const { rows } = await pool.query<SealedSecret>(
        'SELECT name, version, hosts, sealed FROM secrets WHERE workspace_id = $1',
        [workspaceId],
      );
      const opened = rows.map((row) =>
        read(workspaceId, row).catch((err) => {
          if (err instanceof UnreadableSecretError) return [];
          throw err;
        }),
      );
      return (await Promise.all(opened)).flat();
    },

    /** Whether it is set, and whether the stored value decrypts. Does not count as a use. */
    test: async (workspaceId: string, name: string): Promise<{ isSet: boolean; decrypts: boolean }> => {
      const { rows } = await pool.query<SealedSecret>(
        'SELECT name, version, hosts, sealed FROM secrets WHERE workspace_id = $1 AND name = $2',
        [workspaceId, name],
      );
      const [row] = rows;
      if (!row) return { isSet: false, decrypts: false };
      const decrypts = await read(workspaceId, row).then(
        () => true,
        (err) => (err instanceof UnreadableSecretError ? false : Promise.reject(err)),
      );
      return { isSet: true, decrypts };
    },

    /** The names among `names` that are not set. */
    missing: async (workspaceId: string, names: string[]): Promise<string[]> => {
      if (!names.length) return [];
      const { rows } = await pool.query<{ name: string }>(MISSING, [workspaceId, names]);
      return rows.map(({ name }) => name);
    },
  };
}

function assertValidValue(value: string): void {
  const invalidValueError = (message: string) => invalid([{ path: 'value', message }]);
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX)
    throw invalidValueError(`is larger than ${VALUE_BYTES_MAX / 1024} KiB`);
  if (value.includes('\0')) throw invalidValueError('contains NUL, which an environment variable cannot contain');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a header with one of them would end early
const CONTROL = /[\x00-\x1f\x7f]/;

/** The egress proxy puts a secret that has hosts into headers. */
function assertHeaderSafe(value: string): void {
  const invalidValueError = (message: string) => invalid([{ path: 'value', message }]);
  if (value.length > CREDENTIAL_CHARS_MAX) {
    throw invalidValueError(`must have at most ${CREDENTIAL_CHARS_MAX} characters if the secret has hosts`);
  }
  if (CONTROL.test(value))
    throw invalidValueError('must not contain control characters or line breaks if the secret has hosts');
}
