/**
 * Models through the built services: a published skill becomes a worker that asks a model, tools and a person; and a
 * worker that breaks is repaired by a model (ADR 48).
 */
import { type ApiCall, createApiClient } from './api-client';
import { readEvents } from './read-events';
import { type ScriptedResponse, startScriptedModel } from './scripted-model/scripted-model';
import { setupResource } from './setup-resource';
import { startStack } from './stack';
import { waitUntil } from './wait-until';

const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } };
const model = setupResource(startScriptedModel, (one) => one.stop());
const stack = setupResource(
  () => {
    const provider = { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'], prices };
    return startStack({ skillsApi: true, gateway: true, env: { MODEL_PROVIDERS: JSON.stringify([provider]) } });
  },
  (one) => one.stop(),
);

const SKILL =
  '---\nname: count-words\n---\n# Count words\n\nCount the words of `text` with Python, and ask whether to tell.\n';
const usage = { input: 100, output: 10 };

let worker: ApiCall;
let skills: ApiCall;
beforeAll(() => {
  worker = createApiClient(stack.gateway?.worker as string, stack.token);
  skills = createApiClient(stack.gateway?.skills as string, stack.token);
});

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

async function requestOk(status: number, call: ApiCall, ...[method, path, body]: Parameters<ApiCall>): Promise<Json> {
  const answer = await call(method, path, body);
  if (answer.status === status) return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

const getRun = (id: string) => requestOk(200, worker, 'GET', `/api/runs/${id}`);
const statusIs = (id: string, status: string) =>
  waitUntil(async () => (await getRun(id)).status === status, { what: `run ${id} is ${status}` });

test('an agent made from a skill continues where it was when its executor is killed, and asks a person', async () => {
  const made = await requestOk(201, skills, 'POST', '/api/v1/skills', { title: 'Count words', body_md: SKILL });
  const pinned = `${made.slug}@${made.content_hash}`;
  const agent = await requestOk(201, worker, 'POST', '/api/workers', {
    runner: 'agent',
    skill: pinned,
    tools: ['python', 'ask_person'],
    network: 'none',
    inputs: ['text'],
    limits: { timeout_seconds: 60 },
  });
  expect(agent).toMatchObject({ id: 'count-words', name: 'Count words', skill: pinned, entrypoint: 'SKILL.md' });

  const count = `print(len("a b c".split()))`;
  const said: ScriptedResponse[] = [
    { text: 'I count.', calls: [{ name: 'python', input: { code: count }, id: 'c1' }], usage },
    { calls: [{ name: 'python', input: { code: 'print("again")' }, id: 'c2' }], usage, hold: true },
    { calls: [{ name: 'ask_person', input: { question: 'May I tell?' }, id: 'c3' }], usage },
    { text: 'It has 3 words.', usage },
  ];
  await model.says(...said);
  const { run_id: id } = await requestOk(201, worker, 'POST', '/api/workers/count-words/runs', {
    inputs: { text: 'a b c' },
  });
  // Its first tool call is on record, and its second question is on its way.
  await waitUntil(async () => (await model.asked()).length === 2, { what: 'the second question' });
  const [executor] = stack.parts.executors;
  await executor?.kill();
  await model.release();
  await executor?.start();
  await statusIs(id, 'pending_approval');
  const [approval] = await requestOk(200, worker, 'GET', '/api/approvals?status=pending');
  expect(approval).toMatchObject({ run_id: id, title: 'May I tell?' });
  await requestOk(200, worker, 'POST', `/api/approvals/${approval.id}/approve`, { data: { answer: 'yes' } });
  await statusIs(id, 'completed');

  const run = await getRun(id);
  expect(run.output).toEqual({ text: 'It has 3 words.' });
  expect(run.steps.map(({ kind, name }: Json) => `${kind} ${name}`)).toEqual([
    ...['tool model.default', 'step python', 'tool model.default', 'step python', 'tool model.default'],
    ...['approve May I tell?', 'tool model.default'],
  ]);
  // Four answers at 100 + 10 tokens, each asked and paid once; computing is a part of a cent.
  expect(await model.asked()).toHaveLength(4);
  expect(run.total_cost_usd).toBeGreaterThanOrEqual(4 * 0.00012);
  expect(run.total_cost_usd).toBeLessThan(5 * 0.00012);
  const [, second] = await model.asked();
  expect(JSON.stringify(second?.body.messages)).toContain('\\"stdout\\": \\"3');
  expect(run.artifacts).toMatchObject([{ name: 'transcript.json' }]);
  const events = await readEvents({
    urls: [stack.workerUrls[0] as string],
    token: stack.token,
    format: 'ndjson',
    breaks: [],
    path: `/api/runs/${id}/stream`,
  });
  const told = events.flatMap(({ type, data }) => (type === 'tool_call' ? [data.name] : []));
  expect(told).toEqual(['python', 'python', 'ask_person']);
});

test('an agent answers a message with knowledge of the earlier ones', async () => {
  const files = [{ path: 'SKILL.md', content: 'Answer questions about people.\n' }];
  await requestOk(201, worker, 'POST', '/api/workers', { id: 'historian', name: 'Historian', runner: 'agent', files });
  await model.says({ text: 'A mathematician.', usage }, { text: 'In 1815.', usage });
  const conversations = '/api/workers/historian/conversations';
  const { id } = await requestOk(201, worker, 'POST', conversations, { message: 'Who was Ada Lovelace?' });
  const answers = async () =>
    (await requestOk(200, worker, 'GET', `${conversations}/${id}`)).turns.map(({ answer }: Json) => answer);
  await waitUntil(async () => (await answers())[0] === 'A mathematician.', { what: 'the first answer' });
  await requestOk(201, worker, 'POST', `${conversations}/${id}/messages`, { message: 'When was she born?' });
  await waitUntil(async () => (await answers())[1] === 'In 1815.', { what: 'the second answer' });
  const [, second] = await model.asked();
  expect(second?.body.messages.slice(-3)).toMatchObject([
    { role: 'user', content: 'Who was Ada Lovelace?' },
    { role: 'assistant', content: 'A mathematician.' },
    { role: 'user', content: 'When was she born?' },
  ]);
});

test('a changed skill is adopted only with its new hash, and an edited copy is no longer linked to it', async () => {
  const body_md = 'Spell the words of `text`.\n';
  const made = await requestOk(201, skills, 'POST', '/api/v1/skills', { title: 'Spell words', body_md });
  await requestOk(201, worker, 'POST', '/api/workers', { runner: 'agent', skill: `${made.slug}@${made.content_hash}` });
  const changed = await requestOk(200, skills, 'PATCH', '/api/v1/skills/spell-words', {
    body_md: `${body_md}Be brief.\n`,
  });
  const { skill } = await requestOk(200, worker, 'GET', '/api/workers/spell-words');
  expect(skill).not.toContain(changed.content_hash);
  const again = await requestOk(201, worker, 'POST', '/api/workers', { id: 'same-again', runner: 'agent', skill });
  expect(again).toMatchObject({ skill, name: 'Spell words' });
  const newer = await requestOk(200, worker, 'PATCH', '/api/workers/spell-words', { skill: 'spell-words' });
  expect(newer).toMatchObject({ version: 2, skill: `spell-words@${changed.content_hash}` });
  const files = [{ path: 'SKILL.md', content: 'Something else.' }];
  await requestOk(200, worker, 'PUT', '/api/workers/spell-words/files', { files });
  expect(await requestOk(200, worker, 'GET', '/api/workers/spell-words')).toMatchObject({ version: 3, skill: null });
  const unknown = await worker('POST', '/api/workers', { runner: 'agent', skill: 'nobody-wrote-this' });
  expect(unknown).toMatchObject({ status: 400, body: { detail: expect.stringContaining('there is no skill') } });
});

test('an agent loads a published skill when it needs it, and the run shows that it was used', async () => {
  const body_md = '# Greet\n\nGreet in Latin.\n';
  const made = await requestOk(201, skills, 'POST', '/api/v1/skills', { title: 'Greet', body_md });
  const files = [{ path: 'SKILL.md', content: 'Answer the letter.\n' }];
  const agent = { id: 'greeter', name: 'Greeter', runner: 'agent', skills: [made.slug], files };
  const saved = await requestOk(201, worker, 'POST', '/api/workers', agent);
  expect(saved.skills).toMatchObject([
    { name: made.slug, description: 'Greet', version: 1, skill: `${made.slug}@${made.content_hash}` },
  ]);
  await model.says(
    { calls: [{ name: 'use_skill', input: { name: made.slug }, id: 'c1' }], usage },
    { text: 'Salve.', usage },
  );
  const before = (await model.asked()).length;
  const { run_id: id } = await requestOk(201, worker, 'POST', '/api/workers/greeter/runs', { inputs: {} });
  await statusIs(id, 'completed');
  const [first, second] = (await model.asked()).slice(before);
  expect(JSON.stringify(first?.body.messages)).toContain(`- ${made.slug}: Greet`);
  expect(JSON.stringify(first?.body.messages)).not.toContain('Latin');
  expect(JSON.stringify(second?.body.messages)).toContain('<skill>\\n# Greet\\n\\nGreet in Latin.');
  const { steps, output } = await getRun(id);
  expect(output).toEqual({ text: 'Salve.' });
  expect(steps.map(({ name }: Json) => name)).toEqual(['model.default', `use skill ${made.slug}`, 'model.default']);
});

test('the skill counts its agent, whose owner adopts a newer text', async () => {
  const title = 'Sort the mail';
  const made = await requestOk(201, skills, 'POST', '/api/v1/skills', { title, body_md: '# Sort\n\nSort the mail.\n' });
  const skill = `/api/v1/skills/${made.slug}`;
  const counts = (total: number) =>
    waitUntil(async () => (await requestOk(200, skills, 'GET', skill)).used_by_workers.total === total, {
      what: `${total} workers are made of the skill`,
    });
  const agent = await requestOk(201, worker, 'POST', '/api/workers', { runner: 'agent', skill: made.slug });
  const path = `/api/workers/${agent.id}`;
  await counts(1);
  const changed = await requestOk(200, skills, 'PATCH', skill, { body_md: '# Sort\n\nSort the mail by date.\n' });
  const getOfferedUpdate = async () => (await requestOk(200, worker, 'GET', path)).skill_update;
  await waitUntil(async () => (await getOfferedUpdate()) !== null, { what: 'the newer text is offered' });
  expect(await getOfferedUpdate()).toMatchObject({ slug: made.slug, hash: changed.content_hash, version: 2 });
  const taken = await requestOk(200, worker, 'PATCH', path, { skill: made.slug });
  expect(taken).toMatchObject({ version: 2, skill: `${made.slug}@${changed.content_hash}`, skill_update: null });
  expect((await worker('DELETE', path)).status).toBe(204);
  await counts(0);
});

const code = (read: string) =>
  `import json\n\ndef run(table):\n    rows = json.loads(table)\n    print("rows:", len(rows))\n    return {"total": sum(${read} for row in rows)}\n`;
const BROKEN = code('row["total"]');
const MENDED = code('row.get("total", row.get("sum"))');

async function runSums(workerId: string, rows: object[]): Promise<Json> {
  const { run_id: id } = await requestOk(201, worker, 'POST', `/api/workers/${workerId}/runs`, {
    inputs: { table: JSON.stringify(rows) },
  });
  return waitUntil(
    async () => {
      const one = await requestOk(200, worker, 'GET', `/api/runs/${id}`);
      return one.completed_at !== null && one;
    },
    { what: `run ${id} has ended` },
  );
}

test('a failing worker is repaired by a model, proven by rehearsals and approved by a person', async () => {
  const sums = await requestOk(201, worker, 'POST', '/api/workers', {
    name: 'Sums',
    inputs: [{ name: 'table', required: true }],
    files: [{ path: 'main.py', content: BROKEN }],
  });
  const fine = await runSums(sums.id, [{ total: 1 }, { total: 2 }]);
  expect(fine).toMatchObject({ status: 'completed', output: { total: 3 } });
  const failed = await runSums(sums.id, [{ sum: 4 }]);
  expect(failed).toMatchObject({ status: 'failed', error_type: 'KeyError' });

  const explanation = 'The column is called `sum` by now; the code reads either.';
  await model.says(
    { calls: [{ name: 'read_file', input: { path: 'main.py' } }] },
    { calls: [{ name: 'propose_change', input: { explanation, files: [{ path: 'main.py', content: MENDED }] } }] },
  );
  await requestOk(202, worker, 'POST', `/api/runs/${failed.id}/repair`, {});
  const repair = await waitUntil(
    async () => {
      const one = await requestOk(200, worker, 'GET', `/api/runs/${failed.id}/repair`);
      return !['working', 'rehearsing'].includes(one.status) && one;
    },
    { what: 'the repair waits for a person' },
  );
  expect(repair).toMatchObject({ status: 'waiting', proven: true, explanation });
  const candidate = await requestOk(200, worker, 'GET', `/api/workers/${sums.id}/candidates/${repair.candidate_id}`);
  expect(candidate.cases).toMatchObject([
    {
      run_id: failed.id,
      outcome: 'fixed',
      recorded: { error_code: 'exception' },
      rehearsed: { output: '{"total":4}' },
    },
    { run_id: fine.id, outcome: 'same', rehearsed: { output: '{"total":3}' } },
  ]);

  await requestOk(200, worker, 'POST', `/api/approvals/${repair.approval_id}/approve`, { reason: 'reads well' });
  expect(await requestOk(200, worker, 'GET', `/api/workers/${sums.id}`)).toMatchObject({
    version: 2,
    sha: candidate.sha,
  });
  expect(await runSums(sums.id, [{ sum: 4 }, { total: 1 }])).toMatchObject({
    status: 'completed',
    output: { total: 5 },
  });
  expect(await requestOk(200, worker, 'GET', `/api/runs/${failed.id}/repair`)).toMatchObject({ status: 'approved' });
});
