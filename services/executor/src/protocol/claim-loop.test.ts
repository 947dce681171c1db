/**
 * Tests only the claim loop, on a real NATS, with more work than slots.
 * @sequential
 */
import {
  type Bus,
  type ClaimRequest,
  connectBus,
  createSealer,
  EMPTY_REPLY,
  encode,
  generateBoxKeys,
  type Job,
  PYTHON,
  type RunSource,
  runSubjects,
  sealJob,
} from '@gantry/events';
import { captureLogs, startTestNats, type TestNats, waitUntil } from '@gantry/testing';
import type { Msg } from 'nats';
import { LIMITS } from '../test/fake-service';
import { type ClaimLoop, createClaimLoop } from './claim-loop';

let nats: TestNats;
let service: Bus;
let executor: Bus;
let loop: ClaimLoop;
const { log, lines } = captureLogs();
const claims: Msg[] = [];
/** The probes that wait for their reply, while they are held. */
const probes: Msg[] = [];
let holdsProbes = false;
const withdrawn: string[] = [];
const startedJobs: { job: Job; release: () => void }[] = [];
const returnedJobs: Job[] = [];

beforeAll(async () => {
  nats = await startTestNats();
  service = await connectBus({ ...nats.as('automation-api'), name: 'service', log });
  executor = await connectBus({ ...nats.newExecutor(), name: 'executor', log });
  service.nc.subscribe(runSubjects.claim('automation', '*'), { callback: (_, message) => claims.push(message) });
  service.nc.subscribe(runSubjects.withdraw('automation', '*'), {
    callback: (_, message) => withdrawn.push(message.json<{ claimId: string }>().claimId),
  });
  service.nc.subscribe(runSubjects.lease('automation', '*'), {
    callback: (_, message) => (holdsProbes ? void probes.push(message) : respondToProbe(message)),
  });
  await service.nc.flush();
  loop = createLoop(executor, ['automation', 'worker']);
  loop.start();
});
afterAll(async () => {
  await loop.stop();
  await service.nc.close();
  await executor.nc.close();
  await nats.stop();
});

const respondToProbe = (message: Msg) => void message.respond(encode({ cancelled: [], lost: [] }));

const createLoop = (bus: Bus, sources: RunSource[]): ClaimLoop =>
  createClaimLoop({
    bus,
    sources,
    slots: 2,
    executorId: bus.user,
    runners: [PYTHON, 'other'],
    keys: generateBoxKeys(),
    log,
    canClaim: () => true,
    isReporting: () => false,
    startJob: (job, release) => startedJobs.push({ job, release }),
    returnJob: (job) => returnedJobs.push(job),
    onChange: () => {},
  });

const buildJob = (runId: string): Job => ({
  runId,
  source: 'automation',
  attempt: 1,
  token: 'tok',
  workspaceId: 'ws_test',
  kind: 'run',
  runner: PYTHON,
  entrypoint: 'main.py',
  code: { digest: 'a'.repeat(64), url: 'http://store/x', size: 1 },
  dependencies: [],
  inputs: {},
  files: [],
  network: 'none',
  isolation: 'zygote',
  limits: LIMITS,
});
const seal = createSealer();
const respondWithJob = (message: Msg, runId: string) =>
  message.respond(sealJob(seal, { ...message.json<ClaimRequest>(), executorId: executor.user }, buildJob(runId)));
const getClaimId = (message: Msg) => message.json<ClaimRequest>().claimId;

test('a surplus claim is withdrawn; a job that arrives anyway waits, then is returned', async () => {
  await waitUntil(() => claims.length === 2);
  // `worker` has no responder, and no claim of `automation` is lost because of that.
  const [first, second] = claims as [Msg, Msg];
  expect(claims.map((claim) => claim.json<ClaimRequest>().runners)).toEqual(Array(2).fill([PYTHON, 'other']));
  respondWithJob(first, 'run_1');
  await waitUntil(() => startedJobs.length === 1);
  respondWithJob(second, 'run_2');
  await waitUntil(() => startedJobs.length === 2);
  expect(loop.busy()).toBe(2);

  // A slot is free for a moment: it is claimed, and taken again before the reply arrives.
  startedJobs[0]?.release();
  await waitUntil(() => claims.length === 3);
  const late = claims[2] as Msg;
  const another = claims.length;
  respondWithJob(late, 'run_3');
  await waitUntil(() => startedJobs.length === 3);
  expect(claims).toHaveLength(another);

  // Two releases make two claims; both are answered after the first job took more than its share.
  startedJobs[1]?.release();
  await waitUntil(() => claims.length === 4);
  respondWithJob(claims[3] as Msg, 'run_4');
  await waitUntil(() => startedJobs.length === 4);
  expect(returnedJobs).toEqual([]);
});

test('a job that arrives while the loop stops is returned to the queue', async () => {
  startedJobs.at(-1)?.release();
  await waitUntil(() => claims.length === 5);
  const stopping = loop.stop();
  await waitUntil(() => withdrawn.includes(getClaimId(claims[4] as Msg)));
  respondWithJob(claims[4] as Msg, 'run_5');
  await stopping;
  expect(returnedJobs.map(({ runId }) => runId)).toEqual(['run_5']);
});

test('a claim that fails while its source is probed does not end the claims of the source', async () => {
  const other = await connectBus({ ...nats.newExecutor(), name: 'executor', log });
  const otherLoop = createLoop(other, ['automation']);
  const listClaims = () => claims.filter(({ subject }) => subject.endsWith(other.user));
  otherLoop.start();
  await waitUntil(() => listClaims().length === 2);
  holdsProbes = true;
  const [early, failing] = listClaims() as [Msg, Msg];
  early.respond(EMPTY_REPLY);
  await waitUntil(() => probes.length === 1);
  failing.respond(Buffer.from('no job'));
  await waitUntil(() => lines.some(({ msg }) => msg === 'claim failed'));
  holdsProbes = false;
  probes.forEach(respondToProbe);
  await waitUntil(() => listClaims().length === 4);
  await otherLoop.stop();
  await other.nc.close();
});
