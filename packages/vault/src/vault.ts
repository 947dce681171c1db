/**
 * Envelope encryption of values that must not be readable from a database dump.
 *
 * A sealed value is bound to its associated data (table, workspace, name, version): copied into another row it does
 * not decrypt.
 */
import type { Pool } from 'pg';
import { decrypt, encodeAssociatedData, encrypt } from './aead';
import { createDataKeys } from './data-keys';
import type { KeyRing } from './key-ring';

/**
 * Associated data of a sealed value. `version` is the row's own, so an old value cannot be replayed in place of a new
 * one.
 */
export interface AssociatedData {
  table: string;
  name: string;
  version: number;
  /** Hosts that the value may be sent to. */
  hosts?: readonly string[];
}

export type Vault = ReturnType<typeof createVault>;

/** First byte of every sealed value, so that another cipher can be distinguished later. */
const FORMAT = 1;
/** Format, and the version of the data key (32 bits, big endian). */
const HEADER_BYTES = 5;

export function createVault(options: { keys: KeyRing; pool: Pool }) {
  const dataKeys = createDataKeys(options);
  const encodeBinding = (workspaceId: string, { table, name, version, hosts = [] }: AssociatedData) =>
    encodeAssociatedData(table, workspaceId, name, version, ...hosts);
  return {
    /**
     * For a `bytea` column. Call it before a transaction, not inside one: it may insert the workspace's data key
     * itself.
     */
    seal: async (workspaceId: string, associatedData: AssociatedData, value: string): Promise<Buffer> => {
      const { version, key } = await dataKeys.current(workspaceId);
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt8(FORMAT);
      header.writeUInt32BE(version, 1);
      return Buffer.concat([header, encrypt(key, encodeBinding(workspaceId, associatedData), Buffer.from(value))]);
    },
    /** @throws Error if the value was sealed for other associated data, was modified, or its key is not configured. */
    open: async (workspaceId: string, associatedData: AssociatedData, sealed: Uint8Array): Promise<string> => {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new Error('not a sealed value');
      const { key } = await dataKeys.byVersion(workspaceId, bytes.readUInt32BE(1));
      return decrypt(key, encodeBinding(workspaceId, associatedData), bytes.subarray(HEADER_BYTES)).toString();
    },
    /**
     * Cache invalidation: drops the workspace's keys. Call it when the workspace is deleted together with its row in
     * `data_keys`.
     */
    evict: dataKeys.evict,
    /**
     * Rewraps every data key with the current key-encryption key and returns the number of keys changed. Requests
     * continue meanwhile, and several replicas may do it at once. Older keys can then be removed from ENCRYPTION_KEYS.
     */
    rewrap: dataKeys.rewrap,
    /** For key-rotation.ts. Adds a newer data key inside the caller's transaction; call `evict` after the commit. */
    addDataKey: dataKeys.add,
  };
}
