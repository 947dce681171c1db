/** The whole way of a repair, through the built services: a worker breaks, a model reads and proposes, rehearsals prove it, a person accepts. See ADR 48. */
import { apiCaller, type Call } from './api-caller';
import { given } from './given';
import { startScriptedModel } from './scripted-model/scripted-model';
import { startStack } from './stack';
import { until } from './until';

const model = given(startScriptedModel, (one) => one.stop());
const stack = given(
  () => {
    const provider = { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] };
    return startStack({ env: { MODEL_PROVIDERS: JSON.stringify([provider]) } });
  },
  (one) => one.stop(),
);

const code = (read: string) =>
  `import json\n\ndef run(table):\n    rows = json.loads(table)\n    print("rows:", len(rows))\n    return {"total": sum(${read} for row in rows)}\n`;
const BROKEN = code('row["total"]');
const MENDED = code('row.get("total", row.get("sum"))');

let call: Call;
beforeAll(() => {
  call = apiCaller(stack.workerUrls[0] as string, stack.token);
});

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

async function ask(status: number, ...[method, path, body]: Parameters<Call>): Promise<Json> {
  const answer = await call(method, path, body);
  if (answer.status === status) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function run(workerId: string, rows: object[]): Promise<Json> {
  const { run_id: id } = await ask(201, 'POST', `/api/workers/${workerId}/runs`, {
    inputs: { table: JSON.stringify(rows) },
  });
  return until(
    async () => {
      const one = await ask(200, 'GET', `/api/runs/${id}`);
      return one.completed_at !== null && one;
    },
    { what: `run ${id} has ended` },
  );
}

test('a worker that breaks is repaired by a model, proven by rehearsals and accepted by a person', async () => {
  const worker = await ask(201, 'POST', '/api/workers', {
    name: 'Sums',
    inputs: [{ name: 'table', required: true }],
    files: [{ path: 'main.py', content: BROKEN }],
  });
  const fine = await run(worker.id, [{ total: 1 }, { total: 2 }]);
  expect(fine).toMatchObject({ status: 'completed', output: { total: 3 } });
  const failed = await run(worker.id, [{ sum: 4 }]);
  expect(failed).toMatchObject({ status: 'failed', error_type: 'KeyError' });

  const explanation = 'The column is called `sum` by now; the code reads either.';
  await model.says(
    { calls: [{ name: 'read_file', input: { path: 'main.py' } }] },
    { calls: [{ name: 'propose_change', input: { explanation, files: [{ path: 'main.py', content: MENDED }] } }] },
  );
  await ask(202, 'POST', `/api/runs/${failed.id}/repair`, {});
  const repair = await until(
    async () => {
      const one = await ask(200, 'GET', `/api/runs/${failed.id}/repair`);
      return !['working', 'rehearsing'].includes(one.status) && one;
    },
    { what: 'the repair waits for a person' },
  );
  expect(repair).toMatchObject({ status: 'waiting', proven: true, explanation });
  const candidate = await ask(200, 'GET', `/api/workers/${worker.id}/candidates/${repair.candidate_id}`);
  expect(candidate.cases).toMatchObject([
    {
      run_id: failed.id,
      outcome: 'fixed',
      recorded: { error_code: 'exception' },
      rehearsed: { output: '{"total":4}' },
    },
    { run_id: fine.id, outcome: 'same', rehearsed: { output: '{"total":3}' } },
  ]);

  await ask(200, 'POST', `/api/approvals/${repair.approval_id}/approve`, { reason: 'reads well' });
  expect(await ask(200, 'GET', `/api/workers/${worker.id}`)).toMatchObject({ version: 2, sha: candidate.sha });
  expect(await run(worker.id, [{ sum: 4 }, { total: 1 }])).toMatchObject({ status: 'completed', output: { total: 5 } });
  expect(await ask(200, 'GET', `/api/runs/${failed.id}/repair`)).toMatchObject({ status: 'approved' });
});
