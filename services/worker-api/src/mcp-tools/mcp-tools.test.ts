import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { connectMcp } from '../test/connect-mcp';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
setupResource(() => api.serveRuns(() => ({ total: 12 })));

const sendRequest = (method: 'get' | 'post' | 'delete', path: string, jwt = api.owner.jwt) =>
  request(api.url)[method](path).set('Authorization', `Bearer ${jwt}`);
const publish = (body: object, jwt?: string) => sendRequest('post', '/api/mcp-tools', jwt).send(body);

const ERAS = ['legacy', 'auto'] as const;

test.each(ERAS)('a published worker is a tool with its inputs as arguments, and runs: %s', async (era) => {
  const inputs = [{ name: 'day', type: 'date', required: true, description: 'Which day to count' }];
  const { id } = await createWorker(api, { name: `Daily total ${era}`, description: 'Totals of one day.', inputs });
  const tool = await publish({ worker_id: id }).expect(201);
  const name = `daily_total_${era}`;
  expect(tool.body).toMatchObject({ name, source: 'worker', worker_id: id, description: 'Totals of one day.' });

  const client = await connectMcp(api, api.owner.jwt, { era });
  const { tools } = await client.listTools();
  expect(tools.find((one) => one.name === name)).toMatchObject({
    description: 'Totals of one day.',
    inputSchema: { type: 'object', properties: { day: { format: 'date' } }, required: ['day'] },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  });
  const ran = await client.callTool({ name, arguments: { day: '2026-01-05' } });
  const done = { status: 'completed', worker_id: id, output: { total: 12 } };
  expect(ran.structuredContent).toMatchObject(done);
  const started = await api.deps.engine.get(api.workspaceId, String(Object(ran.structuredContent).id));
  expect(started.inputs).toEqual({ day: '2026-01-05' });
  const wrong = await client.callTool({ name, arguments: {} });
  expect(wrong.isError).toBe(true);
  expect(JSON.stringify(wrong.content)).toMatch(/400.*day/);
  await client.close();
});

test('the tool is visible to members who see the worker, and they run it with their own permissions', async () => {
  const member = await api.addMember('member');
  const hidden = await createWorker(api, { name: 'Hidden', visibility: 'private', jwt: member.jwt });
  await publish({ worker_id: hidden.id, name: 'of_one_person' }, member.jwt).expect(201);
  const open = await createWorker(api, { name: 'Open' });
  await publish({ worker_id: open.id, name: 'of_everybody' }).expect(201);
  const other = await api.addMember('member');
  const viewer = await api.addMember('viewer');

  for (const { jwt } of [other, viewer]) {
    const { body } = await sendRequest('get', '/api/mcp-tools', jwt).expect(200);
    expect(body.map(({ name }: { name: string }) => name)).toContain('of_everybody');
    expect(JSON.stringify(body)).not.toContain('of_one_person');
    const client = await connectMcp(api, jwt);
    const refused = await client.callTool({ name: 'of_one_person', arguments: {} });
    expect(JSON.stringify(refused)).toMatch(/there is no tool/);
  }
  await sendRequest('delete', '/api/mcp-tools/of_one_person', other.jwt).expect(404);
  const looking = await connectMcp(api, viewer.jwt);
  expect(JSON.stringify(await looking.callTool({ name: 'of_everybody', arguments: {} }))).toMatch(/403/);
  const reading = await connectMcp(api, api.owner.jwt, { query: '?readonly=1' });
  const { tools } = await reading.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('of_everybody');
});

test('a name is a valid tool name: not taken, not of the platform, and free again when its worker is deleted', async () => {
  const [first, second] = [await createWorker(api, { name: 'First' }), await createWorker(api, { name: 'Second' })];
  await publish({ worker_id: first.id, name: 'wanted' }).expect(201);
  expect((await publish({ worker_id: second.id, name: 'wanted' }).expect(409)).body.code).toBe('name_taken');
  expect((await publish({ worker_id: second.id, name: 'run_worker' }).expect(409)).body.code).toBe('name_taken');
  for (const name of ['Upper', '1st', 'with-dash', '', 'a'.repeat(49)]) {
    await publish({ worker_id: second.id, name }).expect(400);
  }
  await publish({ worker_id: 'nobody', name: 'free' }).expect(404);
  await sendRequest('delete', `/api/workers/${first.id}`).expect(204);
  await sendRequest('delete', '/api/mcp-tools/wanted').expect(404);
  await publish({ worker_id: second.id, name: 'wanted' }).expect(201);
});

test('publishing and withdrawing are audited, and each happens once', async () => {
  const { id } = await createWorker(api, { name: 'Told' });
  const key = { 'Idempotency-Key': 'told-once' };
  await publish({ worker_id: id, name: 'told' }).set(key).expect(201);
  await publish({ worker_id: id, name: 'told' }).set(key).expect(201);
  await sendRequest('delete', '/api/mcp-tools/told').expect(204);
  await sendRequest('delete', '/api/mcp-tools/told').expect(404);
  const { body } = await sendRequest('get', '/api/audit-log?resource_type=mcp_tool&resource_id=told').expect(200);
  expect(body.map(({ action }: { action: string }) => action)).toEqual(['mcp_tool.withdrawn', 'mcp_tool.published']);
});

test('a token for the published set runs published workers, reads their runs, and has nothing else', async () => {
  const [open, other] = [await createWorker(api, { name: 'Chosen' }), await createWorker(api, { name: 'Not chosen' })];
  await publish({ worker_id: open.id, name: 'chosen' }).expect(201);
  const foreign = (await sendRequest('post', `/api/workers/${other.id}/runs`).send({}).expect(201)).body.run_id;
  const { token } = await api.createToken('personal', api.owner.jwt, { restrict: { toolsets: ['published'] } });

  const agent = await connectMcp(api, token);
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toContain('chosen');
  expect(tools.map(({ name }) => name)).not.toContain('run_worker');
  const ran = await agent.callTool({ name: 'chosen', arguments: {} });
  expect(ran.structuredContent).toMatchObject({ status: 'completed', output: { total: 12 } });

  await sendRequest('post', `/api/workers/${open.id}/runs`, token).send({}).expect(201);
  const refused = await sendRequest('post', `/api/workers/${other.id}/runs`, token).send({}).expect(403);
  expect(refused.body).toMatchObject({ code: 'restricted', detail: expect.stringContaining('restrict.toolsets') });
  await sendRequest('get', `/api/runs/${foreign}`, token).expect(403);
  for (const path of ['/api/workers', '/api/runs', '/api/contexts']) await sendRequest('get', path, token).expect(403);
  await sendRequest('delete', '/api/mcp-tools/chosen').expect(204);
  await sendRequest('post', `/api/workers/${open.id}/runs`, token).send({}).expect(403);
});

test('a token for named workers is offered the published ones of them, and one for other sets none', async () => {
  const [mine, other] = [await createWorker(api, { name: 'Mine' }), await createWorker(api, { name: 'Theirs' })];
  await publish({ worker_id: mine.id, name: 'mine' }).expect(201);
  await publish({ worker_id: other.id, name: 'theirs' }).expect(201);
  const names = async (restrict: object) => {
    const { token } = await api.createToken('personal', api.owner.jwt, { restrict });
    return (await (await connectMcp(api, token)).listTools()).tools.map(({ name }) => name);
  };
  const few = await names({ workers: [mine.id] });
  expect(few).toContain('mine');
  expect(few).not.toContain('theirs');
  expect(await names({ toolsets: ['workers'] })).not.toContain('mine');
});
