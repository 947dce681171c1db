import {
  captureLogs,
  createDatabase,
  startTestNats,
  type TestDatabase,
  type TestNats,
  waitUntil,
} from '@gantry/testing';
import { Pool } from 'pg';
import { type Bus, connectBus } from './bus';
import { workspaceDeleted, workspaceRestored } from './catalogue';
import { newId } from './id';
import { enqueue, type Relay, startRelay } from './outbox';
import { ensureStreams } from './streams';
import {
  buildWorkspaceClosedSql,
  consumeClosures,
  republishClosures,
  sweepClosures,
  upsertClosure,
  type WorkspaceClosure,
  type WorkspaceClosures,
  watchWorkspaceClosures,
} from './workspace-closures';

const { log } = captureLogs();
/** Databases of worker-api, which deletes, and of a service that consumes the event. */
let databases: TestDatabase[];
let nats: TestNats;
let pools: [Pool, Pool];
let relay: Relay;
let closures: WorkspaceClosures;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  [databases, nats] = await Promise.all([
    Promise.all([createDatabase('worker-api'), createDatabase('skills-api')]),
    startTestNats(),
  ]);
  pools = databases.map(({ url }) => new Pool({ connectionString: url })) as [Pool, Pool];
  const connect = async (user: 'worker-api' | 'skills-api'): Promise<Bus> => {
    const bus = await connectBus({ ...nats.as(user), name: user, log });
    cleanups.push(() => bus.nc.close());
    return bus;
  };
  const [publisherBus, consumerBus] = [await connect('worker-api'), await connect('skills-api')];
  const streams = await ensureStreams({ bus: publisherBus, log });
  relay = startRelay({ pool: pools[0], bus: publisherBus, service: 'worker-api', log });
  const consumers = consumeClosures({ bus: consumerBus, pool: pools[1], service: 'skills-api', log });
  closures = await watchWorkspaceClosures({ pool: pools[1], bus: consumerBus, log });
  cleanups.push(
    () => relay.stop(),
    () => streams.stop(),
    () => closures.stop(),
    ...consumers.map((consumer) => () => consumer.stop()),
  );
});
afterAll(async () => {
  for (const close of cleanups.reverse()) await close();
  await Promise.all(pools.map((pool) => pool.end()));
  await nats.stop();
});

async function enqueueClosure({ workspaceId, purgeAt, restored: restoration }: WorkspaceClosure): Promise<void> {
  const event = restoration ? workspaceRestored : workspaceDeleted;
  await enqueue(pools[0], event, workspaceId, { workspaceId, purgeAt });
}

async function isClosed(workspaceId: string): Promise<boolean> {
  const { rows } = await pools[1].query(`SELECT ${buildWorkspaceClosedSql('$1')} AS closed`, [workspaceId]);
  return rows[0].closed;
}

/** Two deletions, the first of them undone. */
const deletion = (purgeAt: number) => ({ purgeAt, restored: false });
const restoration = (purgeAt: number) => ({ purgeAt, restored: true });

test.each([
  ['a deletion', [deletion(1)], true],
  ['a deletion and its undo', [deletion(1), restoration(1)], false],
  ['an undo that arrives before its deletion', [restoration(1), deletion(1)], false],
  ['a deletion that is redelivered after its undo', [deletion(1), restoration(1), deletion(1)], false],
  ['a later deletion', [deletion(1), restoration(1), deletion(2)], true],
  ['a late undo of an earlier deletion', [deletion(2), restoration(1)], true],
  ['an earlier deletion that arrives after the undo of a later one', [restoration(2), deletion(1)], false],
])('%s: the table and every replica agree', async (_name, observed, closed) => {
  const workspaceId = newId('ws_');
  const end = newId('ws_');
  const [first, ...later] = observed.map((closure) => ({ ...closure, workspaceId })) as [
    WorkspaceClosure,
    ...WorkspaceClosure[],
  ];
  await enqueueClosure(first);
  relay.kick();
  await waitUntil(
    async () => (await isClosed(workspaceId)) === !first.restored && closures.has(workspaceId) === !first.restored,
  );
  for (const closure of later) {
    await enqueueClosure(closure);
    await enqueueClosure({ workspaceId: end, ...(closure.restored ? restoration : deletion)(closure.purgeAt) });
    relay.kick();
    const has = (purgeAt: number) =>
      pools[1].query('SELECT 1 FROM workspace_closures WHERE workspace_id = $1 AND purge_at >= $2', [
        end,
        new Date(purgeAt),
      ]);
    await waitUntil(async () => (await has(closure.purgeAt)).rowCount);
  }
  await waitUntil(async () => (await isClosed(workspaceId)) === closed && closures.has(workspaceId) === closed);
});

test('events that JetStream lost are republished from worker-api’s table, and have no effect where known', async () => {
  const [lost, undone] = [newId('ws_'), newId('ws_')];
  const purgeAt = Date.now() + 1_000;
  for (const [workspaceId, isRestored] of [
    [lost, false],
    [undone, true],
  ] as const) {
    await upsertClosure(pools[0], { workspaceId, purgeAt, restored: isRestored });
  }
  await upsertClosure(pools[1], { workspaceId: undone, purgeAt, restored: false });
  await republishClosures(pools[0]);
  relay.kick();
  await waitUntil(async () => (await isClosed(lost)) && !(await isClosed(undone)));
});

test('a replica that missed the event learns it from the table', async () => {
  const workspaceId = newId('ws_');
  const observed: string[] = [];
  closures.onClosed((id) => observed.push(id));
  await upsertClosure(pools[1], { workspaceId, purgeAt: 1, restored: false });
  await waitUntil(() => observed.includes(workspaceId));
  expect(closures.has(workspaceId)).toBe(true);
});

test('only undone deletions are swept, once no late event can refer to them', async () => {
  const [reopenedId, closed] = [newId('ws_'), newId('ws_')];
  for (const [workspaceId, isRestored] of [
    [reopenedId, true],
    [closed, false],
  ] as const) {
    await upsertClosure(pools[1], { workspaceId, purgeAt: 1, restored: isRestored });
  }
  await sweepClosures(pools[1]);
  const { rows } = await pools[1].query('SELECT workspace_id FROM workspace_closures WHERE workspace_id = ANY($1)', [
    [reopenedId, closed],
  ]);
  expect(rows).toEqual([{ workspace_id: closed }]);
});
