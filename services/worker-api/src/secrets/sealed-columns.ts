import type { SealedColumn } from '@gantry/vault';

/** Every column of this service that packages/vault seals for a workspace; `signing_keys` belongs to none. */
export const sealedColumns: SealedColumn[] = [
  { table: 'secrets', column: 'sealed', name: 'name', version: 'version', hosts: 'hosts' },
  {
    table: 'worker_triggers',
    column: 'webhook_signing_key',
    sealedFor: 'workers',
    name: "'webhook_signing_key:' || worker_uid",
    version: '1',
  },
  { table: 'alerts', column: 'signing_key', name: "'signing_key:' || id", version: '1' },
  { table: 'connections', column: 'sealed', name: "'credential:' || id", version: 'version' },
  { table: 'connection_revocations', column: 'sealed', name: "'revoked:' || id", version: '1' },
  { table: 'oauth_apps', column: 'client_secret', name: 'slug', version: 'version' },
];
