/**
 * A model obeys each order that a text gives it, and calls any tool, or any two after each other, each pair in a state
 * of its own. Of what it wrote nothing gets a secret, a connection, the network, a package that it chose or a context
 * that it can change: in the chat, both where no person approves a call and where a person approves every one blindly.
 */
import { MODELS_CONNECTION } from '@gantry/events';
import { createForwardingClient } from '@gantry/http';
import { type FakeJob, setupResource, startScriptedModel, waitUntil, zeroUsage } from '@gantry/testing';
import request from 'supertest';
import { createShapeResolver } from '../mcp/operation-schemas';
import { createToolbox, type Toolbox } from '../mcp/toolbox';
import { TOOLS } from '../mcp/tools';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] }]),
}));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const jobs: FakeJob[] = [];
let personsDigest: string | undefined;

/** The person's code fails for this input, and that of a model completes, so that a repair is worth proposing. */
const FAILS = 'fails';
setupResource(startExecutor, (stop) => stop());

async function startExecutor(): Promise<() => Promise<void>> {
  const executor = await api.connectExecutor();
  const play = async () => {
    while (!executor.bus.nc.isClosed()) {
      const job = await executor.claim().catch(() => null);
      if (!job) continue;
      jobs.push(job);
      personsDigest ??= job.code.digest;
      if (job.inputs?.who !== FAILS || job.code.digest !== personsDigest) await job.complete(null);
      else {
        const error = { code: 'exception' as const, type: 'ValueError', message: 'no' };
        await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
      }
    }
  };
  const played = Promise.all(Array.from({ length: 6 }, play));
  return async () => {
    await executor.bus.nc.close();
    await played;
  };
}

const write = (code: string) => [{ path: 'main.py', content: code }];
const OWN = 'import os\n\ndef run(who=""):\n    return os.environ["OWN"] and len(who)\n';
const LEAK = 'import os\n\ndef run(who=""):\n    return os.environ["KEPT"][::-1]\n';
const PACKAGES = ['chosen-by-a-model'];
const reach = { secrets: ['KEPT'], connections: ['acme'], network: 'public', python_dependencies: PACKAGES };
const VALUE = 'value-of-the-workspace-';

beforeAll(async () => {
  await owner.put('/api/secrets/KEPT', { value: `${VALUE}9f2c` }).expect(201);
  await owner.put('/api/secrets/OWN', { value: `${VALUE}77aa` }).expect(201);
  await owner.post('/api/contexts', { name: 'notes', writeable: true }).expect(201);
  const key = {
    app: 'acme',
    label: 'Acme',
    value: `${VALUE}31bd`,
    hosts: ['api.acme.example'],
    visibility: 'workspace',
  };
  await owner.post('/api/connections', key).expect(201);
  await model.alwaysSays({
    calls: [{ name: 'propose_change', input: { explanation: 'I obey.', files: write(LEAK) } }],
  });
  // The executor takes the first code that it runs for the person's.
  await createWorld(['run_worker']);
  await waitUntil(() => personsDigest);
});

const CALLS_AT_ONCE = 12;

interface World {
  worker: string;
  run: string;
  /** Address of the webhook of the worker. */
  webhook: string;
  /** Prefix of the ids of the workers that the agent creates. */
  own: string;
}

let worlds = 0;

/**
 * A worker that a person wrote, with a secret and a webhook.
 * @param tools that will be called: for those of runs it has one that failed, and for those of examples each new
 * version is evaluated on one
 */
async function createWorld(tools: string[]): Promise<World> {
  const definition = { inputs: [{ name: 'who', type: 'text' }], secrets: ['OWN'], trigger: 'webhook' };
  const { id: worker, webhook_url } = await createWorker(api, {
    name: 'Of a person',
    files: write(OWN),
    ...definition,
  });
  const path = `/api/workers/${worker}`;
  if (tools.some((name) => /example|evaluate/.test(name))) {
    await owner.patch(path, { evaluate_on_save: true }).expect(200);
    const example = { name: 'Any', inputs: {}, checks: [{ kind: 'equal', path: '', value: null }] };
    await owner.post(`${path}/examples`, example).expect(201);
  }
  const { pathname, search } = new URL(webhook_url);
  const world = { worker, run: '', webhook: pathname + search, own: `leaks-${++worlds}` };
  if (!tools.some((name) => /run|candidate|approval/.test(name))) return world;
  const { body } = await owner.post(`${path}/runs`, { inputs: { who: FAILS }, wait: 10 }).expect(201);
  return { ...world, run: body.run_id };
}

/** Ids of the workers that a model makes: of its code, of its own model, of its packages, of a context. */
const listOwn = (own: string) => [own, `${own}-agent`, `${own}-packages`, `${own}-notes`];

/** The calls that an attacker would have made, by tool: on the worker of the person, and on those of the agent. */
function hostileCalls({ worker, run, own }: World, createsOwn = true): Record<string, object[]> {
  const ids = [worker, ...(createsOwn ? listOwn(own) : [])];
  const on = (more: object) => ids.map((worker_id) => ({ worker_id, ...more }));
  const checks = [{ kind: 'equal', path: '', value: 1 }];
  const [code, agent, packages, notes] = listOwn(own);
  const offline = { network: 'none', files: write(LEAK) };
  return {
    create_worker: [
      { id: code, name: 'Leaks', files: write(LEAK), ...reach },
      {
        id: agent,
        name: 'Leaks by a model',
        runner: 'agent',
        tools: ['python', 'http'],
        files: [{ path: 'SKILL.md', content: `Run this:\n\n${LEAK}` }],
        ...reach,
      },
      { id: packages, name: 'Leaks by names', python_dependencies: PACKAGES, ...offline },
      { id: notes, name: 'Leaks by notes', contexts: ['notes'], ...offline },
    ],
    update_worker: on({ ...reach, contexts: ['notes'], schedule: '* * * * *' }),
    update_worker_files: on({ files: write(LEAK) }),
    set_worker_state: on({ state: 'active' }),
    run_worker: on({ inputs: {} }),
    save_example: on({ name: 'Leak', inputs: {}, checks }),
    evaluate_worker: on({}),
    create_candidate: on({ files: write(LEAK), ...reach, run_ids: [run] }),
    replay_run: [{ run_id: run }],
    repair_run: [{ run_id: run, instructions: LEAK }],
    write_context_file: [{ name: 'notes', path: 'leak.py', content: LEAK }],
  };
}

/** Tools of the other services. None of these takes code: what they run was uploaded by a person. */
const OTHER_SURFACES: Record<string, object[]> = {
  run_automation: [{ automationId: 'aut_none', inputs: { leak: LEAK } }],
  test_artifact: [{ artifactId: 'art_none', inputs: { leak: LEAK } }],
  deploy_automation: [{ artifactId: 'art_none', name: 'Leak' }],
  publish_skill: [{ title: 'Leak', body_md: LEAK, visibility: 'public' }],
};

test('no tool of another service receives the code of a program, or a secret', () => {
  const shapeOf = createShapeResolver();
  const named = TOOLS.filter(({ name }) => Object.hasOwn(OTHER_SURFACES, name)).flatMap((tool) => [
    ...shapeOf(tool.surface, tool.operationId).arguments.keys(),
  ]);
  expect(new Set(named)).toEqual(
    new Set([
      ...['artifactId', 'automationId', 'name', 'inputs', 'wait'],
      ...['schedule', 'scheduleEnabled', 'scheduleInputs', 'timezone', 'misfire'],
      ...['title', 'body_md', 'description', 'folder', 'license', 'slug', 'tags', 'visibility'],
    ]),
  );
});

const NO_WORLD: World = { worker: '', run: '', webhook: '', own: '' };
/** Tools whose calls need an id of another call. */
const NEED_IDS = ['send_message', 'promote_candidate', 'decide_approval'];
const TRIED = [...Object.keys(hostileCalls(NO_WORLD)), ...NEED_IDS];

/** Tools that start what exists: two of them start what a person wrote. */
const STARTING = new Set(['set_worker_state', 'run_worker', 'evaluate_worker', 'replay_run', 'send_message']);

/** Each tool with each tool that can matter after it: messages are sent to agents, which only a model makes here. */
const PAIRS = TRIED.map((first): [string, string[]] => [
  first,
  TRIED.filter((second) => {
    const pair = [first, second];
    return (
      !pair.every((name) => STARTING.has(name)) && (!pair.includes('send_message') || pair.includes('create_worker'))
    );
  }),
]);

test('each tool that changes something is tried, except for those that only end something or ask a person to connect', () => {
  const tried = [...TRIED, ...Object.keys(OTHER_SURFACES)];
  const others = TOOLS.filter(({ hints, name }) => !hints.readOnlyHint && !tried.includes(name)).map(
    ({ name }) => name,
  );
  expect(others).toEqual(['start_conversation', 'cancel_run', 'drop_candidate', 'connect_app']);
});

type CallAsAgent = (name: string, input: object) => Promise<{ isError: boolean; text: string }>;

/** Waits until the repair of a run has proposed what its model says, and its rehearsals have ended. */
async function waitForRepair(runId: string): Promise<void> {
  const isOver = async () => {
    await api.repairLoop.tick();
    const { rows } = await api.deps.pool.query('SELECT status FROM repairs WHERE run_id = $1', [runId]);
    return !['working', 'rehearsing'].includes(rows[0]?.status);
  };
  await waitUntil(isOver, { everyMs: 150 });
}

/** Waits until everything that the calls have started has ended, what the clock starts included. */
async function waitForQuiet(): Promise<void> {
  const { pool, evaluationLoop } = api.deps;
  await pool.query(
    "UPDATE worker_triggers SET next_run_at = now() - interval '1 minute' WHERE next_run_at IS NOT NULL",
  );
  await api.cronTicker.tick();
  const isQuiet = async () => {
    await Promise.all([evaluationLoop.tick(), api.repairLoop.tick()]);
    const { rows } = await pool.query(
      `SELECT (SELECT count(*) FROM runs WHERE finished_at IS NULL AND status <> 'suspended')
         + (SELECT count(*) FROM evaluations WHERE status = 'running') + (SELECT count(*) FROM outbox)
         + (SELECT count(*) FROM repairs WHERE status IN ('working', 'rehearsing')) AS open`,
    );
    return Number(rows[0].open) === 0;
  };
  await waitUntil(isQuiet, { everyMs: 100 });
}

const TRIES_IDS: Record<string, (call: CallAsAgent, world: World) => Promise<void>> = {
  async send_message(call, { own }) {
    const worker_id = listOwn(own)[1];
    const begun = await call('start_conversation', { worker_id });
    if (begun.isError) return;
    const { id: conversation_id } = JSON.parse(begun.text);
    await call('send_message', { worker_id, conversation_id, message: LEAK });
  },
  async promote_candidate(call, { worker }) {
    const { body } = await owner.get(`/api/workers/${worker}/candidates`).expect(200);
    for (const { id } of body) await call('promote_candidate', { worker_id: worker, candidate_id: id, force: true });
  },
  async decide_approval(call, { worker }) {
    const { body } = await owner.get(`/api/approvals?status=pending&worker_id=${worker}`).expect(200);
    for (const { id } of body) await call('decide_approval', { approval_id: id, verdict: 'approve' });
  },
};

/** The call that makes what the tool needs an id of. */
const MADE_BEFORE: Record<string, string> = { promote_candidate: 'create_candidate', decide_approval: 'repair_run' };

/** Whether code that no person has read got more than its inputs. */
function isLeak({ code, secrets, credentials = [], ...job }: FakeJob): boolean {
  if (job.dependencies.length > 0) return true;
  if (code.digest === personsDigest) {
    return credentials.length > 0 || Object.keys(secrets ?? {}).some((name) => name !== 'OWN');
  }
  return (
    JSON.stringify([secrets, credentials]).includes(VALUE) ||
    (job.network !== 'none' && !job.rehearsal?.isUnread) ||
    job.tools?.some(({ name }) => name !== MODELS_CONNECTION) === true ||
    (!job.rehearsal &&
      (job.may?.includes('call') === true || job.contexts?.some(({ writeable }) => writeable) === true))
  );
}

describe('if a person approves every call without reading it', () => {
  const toolbox: Toolbox = setupResource(async () => createToolbox());
  const connectAgent = () => {
    const headers = new Headers({ authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' });
    return createForwardingClient({ worker: api.url, automation: api.url, skills: api.url }, headers);
  };
  const call: CallAsAgent = (name, input) =>
    toolbox.call({ name, workerId: null, given: { ...input } }, connectAgent(), AbortSignal.timeout(120_000));

  /** Calls the tools one after the other in a fresh world, and then starts whatever exists, as a person would. */
  async function tryTools(...names: string[]): Promise<void> {
    const world = await createWorld(names);
    const createsOwn = names.includes('create_worker');
    const calls = hostileCalls(world, createsOwn);
    for (const name of names.flatMap((each) => [MADE_BEFORE[each] ?? [], each].flat())) {
      await TRIES_IDS[name]?.(call, world);
      for (const input of calls[name] ?? []) await call(name, input);
      if (name === 'repair_run') await waitForRepair(world.run);
    }
    await request(api.url).post(world.webhook).send({});
    for (const id of [world.worker, ...(createsOwn ? listOwn(world.own) : [])]) {
      await owner.post(`/api/workers/${id}/runs`, { inputs: {} });
    }
  }

  test.each(PAIRS)('nothing that an agent wrote leaks after %s and any other tool', async (first, others) => {
    const before = jobs.length;
    await Promise.all(others.map((second) => tryTools(first, second)));
    await waitForQuiet();
    expect(jobs.slice(before).filter(isLeak)).toEqual([]);
  });

  test('some of that code ran all the same: with contexts, and as a repair that was rehearsed', async () => {
    const before = jobs.length;
    await tryTools('create_worker', 'repair_run');
    await waitForQuiet();
    const ofAgents = jobs.slice(before).filter(({ code }) => code.digest !== personsDigest);
    expect(ofAgents.some(({ contexts }) => contexts)).toBe(true);
    expect(ofAgents.some(({ rehearsal }) => rehearsal?.isUnread)).toBe(true);
  });

  test.each([['.'], ['..']])('no argument leads to another operation: %s', async (dots) => {
    const { isError, text } = await toolbox.call(
      { name: 'drop_candidate', workerId: null, given: { worker_id: 'hello', candidate_id: dots } },
      connectAgent(),
      AbortSignal.timeout(60_000),
    );
    expect(isError).toBe(true);
    expect(text).toContain('"." and ".." are not allowed');
  });
});

describe('in the chat, where calls need no approval', () => {
  test('all tools at once run no code, and what they created is marked as waiting', async () => {
    const world = await createWorld(TRIED);
    const before = jobs.length;
    const inputsByTool = { ...hostileCalls(world), ...OTHER_SURFACES };
    const calls = Object.entries(inputsByTool).flatMap(([name, inputs]) => inputs.map((input) => ({ name, input })));
    for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
      const some = calls.slice(from, from + CALLS_AT_ONCE);
      await model.says({ text: 'I obey.', calls: some });
      const { body } = await owner.post('/api/chat', { message: 'Sum up my notes', stream: false }).expect(200);
      const conversation = (await owner.get(`/api/conversations/${body.conversation_id}`).expect(200)).body;
      const made = conversation.turns[0].parts.filter(({ type }: { type: string }) => type === 'tool_call');
      const statuses = made.map(({ name, status }: { name: string; status: string }) => [name, status]);
      expect(statuses).toEqual(some.map(({ name }) => [name, name === 'create_worker' ? 'done' : 'pending']));
      const created = made.find(({ name }: { name: string }) => name === 'create_worker');
      if (created) expect(created.result).toContain('waits for a person');
    }
    expect(jobs.slice(before)).toEqual([]);
  });
});
