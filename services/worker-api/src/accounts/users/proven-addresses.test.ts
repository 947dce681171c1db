/** The effect of the migration on existing accounts. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createDatabase } from '@gantry/testing';
import { Client } from 'pg';

const dir = path.resolve(__dirname, '../../../prisma/migrations');
const folders = readdirSync(dir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const at = folders.findIndex((name) => name.endsWith('_proven_addresses'));

test('all accounts keep their credentials; only an address from an identity provider is verified', async () => {
  const client = new Client({ connectionString: (await createDatabase('empty')).url });
  await client.connect();
  try {
    const apply = async (names: string[]) => {
      for (const name of names) await client.query(readFileSync(path.join(dir, name, 'migration.sql'), 'utf8'));
    };
    await apply(folders.slice(0, at));
    await client.query(`
      INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A');
      INSERT INTO users (id, email, default_workspace_id)
        VALUES ('usr_pw', 'pw@example.com', 'ws_a'), ('usr_oidc', 'oidc@example.com', 'ws_a');
      INSERT INTO password_credentials (user_id, password_hash) VALUES ('usr_pw', 'x');
      INSERT INTO memberships (workspace_id, user_id, role) VALUES ('ws_a', 'usr_pw', 'owner'), ('ws_a', 'usr_oidc', 'member');
      INSERT INTO external_identities (issuer, subject, user_id, created_at)
        VALUES ('i', '1', 'usr_oidc', '2026-01-02T03:04:05Z'), ('i', '2', 'usr_oidc', '2026-02-02T03:04:05Z');
      INSERT INTO tokens (id, user_id, name, prefix, hash, pepper_version, created_by)
        VALUES ('tok_p', 'usr_pw', 'n', 'svc_', '\\x01', 'v1', 'usr_pw');
      INSERT INTO tokens (id, workspace_id, name, prefix, hash, pepper_version, role, created_by)
        VALUES ('tok_w', 'ws_a', 'n', 'wst_', '\\x02', 'v1', 'admin', 'usr_pw'),
               ('tok_of_w', 'ws_a', 'n', 'wst_', '\\x03', 'v1', 'admin', 'tok_w');
      INSERT INTO invitations (id, workspace_id, email, role, hash, invited_by, expires_at)
        VALUES ('inv_1', 'ws_a', 'new@example.com', 'member', '\\x01', 'usr_pw', now() + interval '1 day'),
               ('inv_2', 'ws_a', 'too@example.com', 'member', '\\x02', 'tok_w', now() + interval '1 day');
      INSERT INTO password_resets (hash, user_id, expires_at) VALUES ('\\x01', 'usr_pw', now() + interval '1 day');
    `);
    await apply(folders.slice(at));
    const rows = async (sql: string) => (await client.query(sql)).rows;
    expect(await rows('SELECT id, email, email_verified_at FROM users ORDER BY id')).toEqual([
      { id: 'usr_oidc', email: 'oidc@example.com', email_verified_at: new Date('2026-01-02T03:04:05Z') },
      { id: 'usr_pw', email: 'pw@example.com', email_verified_at: null },
    ]);
    expect(await rows('SELECT count(*)::int AS n FROM memberships')).toEqual([{ n: 2 }]);
    expect(await rows('SELECT count(*)::int AS n FROM password_credentials')).toEqual([{ n: 1 }]);
    expect(await rows('SELECT id, created_by_token_id FROM tokens ORDER BY id')).toEqual([
      { id: 'tok_of_w', created_by_token_id: 'tok_w' },
      { id: 'tok_p', created_by_token_id: null },
      { id: 'tok_w', created_by_token_id: null },
    ]);
    expect(await rows('SELECT id, mailed, token_id FROM invitations ORDER BY id')).toEqual([
      { id: 'inv_1', mailed: false, token_id: null },
      { id: 'inv_2', mailed: false, token_id: 'tok_w' },
    ]);
    // Their rows record neither the creator nor the address.
    expect(await rows('SELECT * FROM password_resets')).toEqual([]);
  } finally {
    await client.end();
  }
});
