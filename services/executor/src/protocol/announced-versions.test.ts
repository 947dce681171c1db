/** Tests versions that services announce, through the whole executor. */
import { encode, type Job, type PrepareRequest, requestPreparation, runSubjects } from '@gantry/events';
import { waitUntil } from '@gantry/testing';
import { setupTestExecutor } from '../test/executor-fixture';
import { type JobOverrides, LIMITS, type RunView } from '../test/fake-service';

let hook: Job['code'];
const fixture = setupTestExecutor({ sources: ['worker'] }, async (service) => {
  hook = await service.uploadCode('def run(): return "of a webhook"');
  service.standby.push(buildAnnouncement('wkr_hook', hook));
});

type Program = NonNullable<NonNullable<PrepareRequest['subject']>['program']>;

function buildAnnouncement(subjectId: string, code: Job['code'], overrides: Partial<Program> = {}): PrepareRequest {
  const program: Program = {
    code,
    entrypoint: 'main.py',
    limits: LIMITS,
    network: 'none',
    isolation: 'zygote',
    secretNames: [],
    ...overrides,
  };
  return { dependencies: [], subject: { workspaceId: 'ws_test', subjectId, program } };
}

const isPrepared = (digest: string) => fixture.logs.lines.some((line) => line.digest === digest);

async function announce(subjectId: string, source: string, overrides: Partial<Program> = {}): Promise<Job['code']> {
  const code = await fixture.service.uploadCode(source);
  requestPreparation(fixture.bus, buildAnnouncement(subjectId, code, overrides));
  await waitUntil(() => isPrepared(code.digest));
  return code;
}

const runQueued = (code: Job['code'], overrides: JobOverrides): Promise<RunView> =>
  fixture.service.waitForFinished(fixture.service.enqueue(code, overrides));

const announceEnd = (subjectId: string) =>
  requestPreparation(fixture.bus, { dependencies: [], subject: { workspaceId: 'ws_test', subjectId } });

test('the first run of an announced version is warm, with its own inputs and secrets', async () => {
  const source = 'import os\ndef run(n): return [n, len(os.environ["TOKEN"])]';
  const code = await announce('wkr_first', source, { secretNames: ['TOKEN'], network: 'egress' });
  const { finished, log } = await runQueued(code, {
    subjectId: 'wkr_first',
    network: 'egress',
    inputs: { n: 7 },
    secrets: { TOKEN: 'secret-number-1' },
  });
  expect(finished).toMatchObject({ output: [7, 15], usage: { sandbox: { mode: 'warm' } } });
  expect(log).toEqual([]);
});

test('a worker with a trigger has its code imported when the executor starts', async () => {
  await waitUntil(() => isPrepared(hook.digest));
  const { finished } = await runQueued(hook, { subjectId: 'wkr_hook' });
  expect(finished).toMatchObject({ output: 'of a webhook', usage: { sandbox: { mode: 'warm' } } });
});

test('a version whose import needs a secret stays fresh, and its runs report why', async () => {
  const source = 'import os\nKEY = os.environ["TOKEN"]\ndef run(): return len(KEY)';
  const code = await announce('wkr_demands', source, { secretNames: ['TOKEN'] });
  const run = () => runQueued(code, { subjectId: 'wkr_demands', secrets: { TOKEN: 'secret-number-1' } });
  // An import that a busy machine did not let begin is tried again, and no run waits for it.
  const { finished } = await waitUntil(async () => {
    const view = await run();
    return view.finished.usage.sandbox?.reason !== undefined && view;
  });
  expect(finished).toMatchObject({
    output: 15,
    usage: { sandbox: { mode: 'fresh', reason: 'its import reads the secret TOKEN' } },
  });
});

test('another worker or workspace with the same code does not share the warm sandbox', async () => {
  const source = 'def run(): return "shared by nobody"';
  const code = await announce('wkr_one', source);
  for (const other of [{ subjectId: 'wkr_two' }, { subjectId: 'wkr_one', workspaceId: 'ws_other' }]) {
    const { finished } = await runQueued(code, other);
    expect(finished.usage.sandbox).toEqual({ mode: 'fresh' });
  }
});

test('a new version ends the sandbox of the previous one; a pause ends that of the current one', async () => {
  const getMode = async (code: Job['code']) =>
    (await runQueued(code, { subjectId: 'wkr_saved' })).finished.usage.sandbox?.mode;
  const old = await announce('wkr_saved', 'def run(): return "old"');
  const current = await announce('wkr_saved', 'def run(): return "current"');
  expect(await getMode(old)).toBe('fresh');
  expect(await getMode(current)).toBe('warm');
  announceEnd('wkr_saved');
  await fixture.bus.nc.flush();
  await announce('wkr_after', 'def run(): return "after the pause"');
  expect(await getMode(current)).toBe('fresh');
});

test('of many saves of a worker only the last is imported, and none of a paused worker', async () => {
  const slow = await fixture.service.uploadCode('import time\ntime.sleep(1)\ndef run(): pass');
  requestPreparation(fixture.bus, buildAnnouncement('wkr_slow', slow));
  const saved = await Promise.all(
    [...Array(30).keys()].map((n) => fixture.service.uploadCode(`def run(): return ${n}`)),
  );
  const paused = await fixture.service.uploadCode('def run(): return "paused"');
  for (const code of saved) requestPreparation(fixture.bus, buildAnnouncement('wkr_flood', code));
  requestPreparation(fixture.bus, buildAnnouncement('wkr_paused', paused));
  announceEnd('wkr_paused');
  await waitUntil(() => isPrepared(saved.at(-1)?.digest ?? ''));
  expect(saved.filter(({ digest }) => isPrepared(digest))).toHaveLength(1);
  expect(isPrepared(paused.digest)).toBe(false);
});

test('a workspace that saves many workers does not delay another one', async () => {
  const codes = await Promise.all(
    [...Array(60).keys()].map((n) =>
      fixture.service.uploadCode(`import time\ntime.sleep(0.2)\ndef run(): return ${-n}`),
    ),
  );
  for (const [n, code] of codes.entries()) requestPreparation(fixture.bus, buildAnnouncement(`wkr_many_${n}`, code));
  const other = await fixture.service.uploadCode('def run(): return "of another workspace"');
  const { dependencies, subject } = buildAnnouncement('wkr_other', other);
  if (subject) requestPreparation(fixture.bus, { dependencies, subject: { ...subject, workspaceId: 'ws_other' } });
  await waitUntil(() => isPrepared(other.digest));
  expect(codes.filter(({ digest }) => isPrepared(digest)).length).toBeLessThan(20);
  // The rest would fill the queue of the workspace, which drops further announcements.
  for (const n of codes.keys()) announceEnd(`wkr_many_${n}`);
});

test('invalid announcements are dropped, and extra values in one reach no process', async () => {
  const source = 'import os\nALL = [*os.environ]\ndef run(): return "MARK" in ALL';
  const code = await fixture.service.uploadCode(source);
  const { dependencies, subject } = buildAnnouncement('wkr_marked', code);
  const program = { ...subject?.program, secrets: { MARK: 'x' }, inputs: { a: 1 }, env: { MARK: 'x' } };
  const send = (message: object) => fixture.bus.nc.publish(runSubjects.prepare, encode(message));
  send({ dependencies, subject: { ...subject, program: { ...program, limits: { wallMs: 'long' } } } });
  send({ dependencies, subject: { ...subject, program } });
  await waitUntil(() => isPrepared(code.digest));
  const { finished } = await runQueued(code, { subjectId: 'wkr_marked' });
  expect(finished).toMatchObject({ output: false, usage: { sandbox: { mode: 'warm' } } });
});
