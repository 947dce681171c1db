import { auditRecorded, enqueue } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { testWorkerApi } from '../test/test-worker-api';
import { deleteOldAuditRows } from './audit-repository';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const member = setupResource(() => api.addMember('member'));

const list = async (query = '') => (await owner.get(`/api/audit-log${query}`).expect(200)).body;
const changeRole = (role: string) =>
  owner.put(`/api/workspaces/${api.workspaceId}/members/${member.userId}/role`, { role });

test('a change is recorded with its actor, action, resource and address', async () => {
  await changeRole('viewer').set('User-Agent', 'a browser').expect(200);
  const [entry] = await list(`?resource_id=${member.userId}`);
  expect(entry).toMatchObject({
    action: 'member.role_changed',
    actor: { kind: 'jwt', id: api.owner.userId, label: 'owner@example.com' },
    resource: { type: 'member', id: member.userId },
    details: { from: 'member', to: 'viewer' },
    address: expect.stringContaining('127.0.0.1'),
    user_agent: 'a browser',
    request_id: expect.stringMatching(/^req_/),
    source: 'worker-api',
  });
});

test('refused and failed requests are not recorded', async () => {
  const before = (await list('?limit=200')).length;
  await changeRole('root').expect(400);
  await owner.remove('/auth/tokens/tok_unknown').expect(404);
  await createCaller(api.url, member.jwt).post('/api/workspace/tokens', { name: 'x' }).expect(403);
  expect(await list('?limit=200')).toHaveLength(before);
});

test('a secret is never recorded', async () => {
  const { token } = await api.createToken('workspace', api.owner.jwt, { name: 'ci' });
  const invited = await owner
    .post(`/api/workspaces/${api.workspaceId}/members/invite`, { email: 'new@example.com' })
    .expect(201);
  const text = JSON.stringify(await list('?limit=200'));
  expect(text).toContain('member.invited');
  expect(text).not.toContain(token);
  expect(text).not.toContain(invited.body.invite_url.split('#')[1]);
});

test('pages are complete, in order, without repeats, and an incomplete cursor is a 400', async () => {
  for (const role of ['member', 'viewer', 'member', 'viewer', 'member']) await changeRole(role).expect(200);
  const all = await list('?limit=200');
  const seen: { id: string }[] = [];
  let path: string | undefined = '/api/audit-log?limit=2';
  while (path) {
    const page: { body: { id: string }[]; headers: Record<string, string> } = await owner.get(path).expect(200);
    seen.push(...page.body);
    path = /<([^>]+)>; rel="next"/.exec(page.headers.link ?? '')?.[1];
  }
  expect(seen).toEqual(all);
  await owner.get('/api/audit-log?before_id=aud_x').expect(400);
  await owner.get('/api/audit-log?since=yesterday').expect(400);
  expect(await list(`?until=${all.at(-1).created_at}`)).toEqual([]);
});

test('only admins read it, and only their own workspace', async () => {
  await createCaller(api.url, member.jwt).get('/api/audit-log').expect(403);
  await createCaller(api.url, member.jwt).get('/api/audit-log/export').expect(403);
  const elsewhere = await createCaller(api.url, api.foreign.owner.jwt).get('/api/audit-log').expect(200);
  expect(elsewhere.body).toEqual([]);
});

test('it is exported completely as CSV and NDJSON, without formulas for a spreadsheet', async () => {
  await owner.patch(`/api/workspaces/${api.workspaceId}`, { name: 'Plain' }).expect(200);
  const formula = await owner.post('/auth/tokens', { name: '=1+1' }).set('User-Agent', ' =cmd()').expect(201);
  const csv = await owner
    .get('/api/audit-log/export')
    .expect(200)
    .expect('Content-Type', /text\/csv/);
  const lines = csv.text.trimEnd().split('\r\n');
  expect(lines[0]).toContain('created_at,actor_kind');
  expect(lines).toHaveLength((await list('?limit=200')).length + 1);
  expect(lines.find((line) => line.includes(formula.body.id))).toContain("'=cmd()");
  const ndjson = await owner.get('/api/audit-log/export?format=ndjson').buffer(true).expect(200);
  const entries = ndjson.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.reverse()).toEqual(await list('?limit=200'));
});

test('no entry can be changed or removed, except after its retention', async () => {
  const { pool } = api.database;
  const before = (await list('?limit=200')).length;
  await expect(pool.query("UPDATE audit_log SET action = 'x'")).rejects.toThrow('append-only');
  await expect(pool.query('DELETE FROM audit_log')).rejects.toThrow('append-only');
  await expect(pool.query('TRUNCATE audit_log')).rejects.toThrow('append-only');
  await deleteOldAuditRows(pool, 365);
  expect(await list('?limit=200')).toHaveLength(before);
  await pool.query(
    `INSERT INTO audit_log (id, workspace_id, source, actor_kind, action, resource_type, details, created_at)
     VALUES ('aud_old', $1, 'worker-api', 'system', 'x', 'x', '{}', now() - interval '366 days')`,
    [api.workspaceId],
  );
  await deleteOldAuditRows(pool, 365);
  expect(await list('?limit=200')).toHaveLength(before);
});

test('an entry that another service announces is recorded once', async () => {
  const { pool } = api.database;
  await enqueue(pool, auditRecorded, api.workspaceId, {
    source: 'automation-api',
    actor: { kind: 'personal_token', id: member.userId, label: member.email, tokenId: 'tok_x' },
    action: 'automation.deployed',
    resource: { type: 'automation', id: 'a-1' },
    details: { version: 1 },
    address: '10.0.0.1',
    userAgent: null,
    requestId: 'req_12345678',
    at: Date.now(),
  });
  const found = await waitUntil(async () => {
    const entries = await list('?action=automation.deployed');
    return entries.length === 1 && entries[0];
  });
  expect(found).toMatchObject({ source: 'automation-api', resource: { id: 'a-1' }, actor: { token_id: 'tok_x' } });
});
