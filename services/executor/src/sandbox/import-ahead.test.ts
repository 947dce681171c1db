/** Tests sandboxes that import a version before its first run. */
import { waitUntil } from '@gantry/testing';
import {
  type SandboxRun,
  startTestSandbox,
  type TestSandbox,
  type WarmOptions,
  type WarmRuns,
} from '../test/sandbox-fixture';

/** One for each test: a sandbox that another test's run has asked for would be counted too. */
let fixture: TestSandbox;
beforeEach(async () => {
  fixture = await startTestSandbox({ slots: 2 });
});
afterEach(() => fixture?.sandbox.stop());

const IMPORT_SECONDS = 1;

let versions = 0;
/**
 * Creates a version of a new worker, unless one is named. A run waits for the next process for as long as the import
 * took: an import of no time would leave it to the load of the machine whether a run is warm.
 */
function createVersion(source = '', options: WarmOptions = {}): WarmRuns {
  const number = ++versions;
  const code = `import time\ntime.sleep(${IMPORT_SECONDS})\nNUMBER = ${number}\n${source}\ndef run(): return NUMBER\n`;
  return fixture.createWarmRuns(code, {
    subjectId: `wkr_${number}`,
    ...options,
  });
}

const importAhead = ({ request }: WarmRuns, isStandby = false) => fixture.sandbox.importAhead(request, isStandby);

const getSandboxId = ({ child }: SandboxRun) => child.id.split('.')[0];

test('the first run of an imported version is warm', async () => {
  const saved = createVersion();
  await importAhead(saved);
  expect(await saved.runNext()).toMatchObject({ isWarm: true, outcome: { kind: 'returned' } });
});

test.each([
  ['reads a secret', 'import os\nKEY = os.environ.get("TOKEN")', /reads the secret TOKEN/],
  ['asks for inputs', 'from gantry import context\nINPUTS = context.inputs', /context.inputs/],
  ['uses the network', 'import socket; socket.socket().connect_ex(("127.0.0.1", 3128))', /network/],
  ['fails', 'import nothing_like_this', /ModuleNotFoundError/],
])('a version whose import %s stays fresh, and its first run reports why', async (_, source, reason) => {
  const saved = createVersion(source, { secretNames: ['TOKEN'] });
  await importAhead(saved);
  expect(fixture.sandbox.acquireWarm(saved.request)).toEqual({ reason: expect.stringMatching(reason) });
});

test('an import for a run does not wait for a slow import ahead of runs', async () => {
  const slow = createVersion('import time\ntime.sleep(5)');
  let isOver = false;
  const ahead = importAhead(slow).then(() => {
    isOver = true;
  });
  expect((await createVersion().run()).isWarm).toBe(true);
  expect(isOver).toBe(false);
  fixture.sandbox.endOthers(slow.request);
  await ahead;
});

test('unused versions take no memory from used ones, and share the rest', async () => {
  const [mb, sizeMb] = [1 << 20, 20];
  const small = await startTestSandbox({ slots: 1, warmBytes: 4 * sizeMb * mb });
  const large = (workspaceId: string) => {
    const number = ++versions;
    const source = `DATA = bytearray(b"1" * (${sizeMb / 2} << 20))\ndef run(): return ${number}\n`;
    return small.createWarmRuns(source, { workspaceId, subjectId: `wkr_${number}` });
  };
  const used = [large('ws_used'), large('ws_used')];
  const before = new Map<WarmRuns, string | undefined>();
  for (const warm of used) before.set(warm, getSandboxId(await warm.run()));
  for (let n = 0; n < 12; n++) await small.sandbox.importAhead(large(`ws_${n % 3}`).request, n % 2 === 0);
  for (const warm of used) expect(getSandboxId(await warm.run())).toBe(before.get(warm));
  // A run has priority over versions that have never run.
  expect((await large('ws_new').run()).isWarm).toBe(true);
  for (const warm of used) expect(getSandboxId(await warm.run())).toBe(before.get(warm));
  await small.sandbox.stop();
});

test.each([
  ['is standby', (warm: WarmRuns) => importAhead(warm, true)],
  ['runs repeatedly', (warm: WarmRuns) => warm.run()],
])('a version that %s gets a new sandbox as soon as one has ended, not only with its next run', async (_, begin) => {
  const warm = createVersion();
  await begin(warm);
  const before = fixture.sandbox.warm();
  // Imports take turns: none begins while this one goes on.
  const slow = createVersion('import time\ntime.sleep(60)');
  const ahead = importAhead(slow);
  await waitUntil(() => fixture.sandbox.warm() === before + 1);
  // None where the next process takes longer than a fresh sandbox would.
  const child = await waitUntil(() => fixture.sandbox.acquireWarm(warm.request).child);
  child.kill('ends its sandbox');
  await waitUntil(() => fixture.sandbox.warm() === before);
  fixture.sandbox.endOthers(slow.request);
  await ahead;
  await importAhead(createVersion());
  expect((await warm.runNext()).isWarm).toBe(true);
});

test('sandboxes of outdated versions of a worker end at once, and that of its current version stays', async () => {
  const subjectId = 'wkr_changed';
  const [old, current, other] = [createVersion('', { subjectId }), createVersion('', { subjectId }), createVersion()];
  for (const each of [old, current, other]) await importAhead(each);
  const before = fixture.sandbox.warm();
  fixture.sandbox.endOthers(old.request, current.request);
  await waitUntil(() => fixture.sandbox.warm() === before - 1);
  for (const [each, isWarm] of [
    [old, false],
    [current, true],
    [other, true],
  ] as const) {
    expect((await each.runNext()).isWarm).toBe(isWarm);
  }
  expect((await old.run()).isWarm).toBe(true);
});

test('a run of a paused worker continues to its end, and its sandbox ends with it', async () => {
  const paused = createVersion('import time', { subjectId: 'wkr_paused' });
  await importAhead(paused);
  const before = fixture.sandbox.warm();
  const run = await paused.runNext({ onChild: () => fixture.sandbox.endOthers(paused.request) });
  expect(run).toMatchObject({ isWarm: true, outcome: { kind: 'returned' } });
  await waitUntil(() => fixture.sandbox.warm() === before - 1);
});

test('an import ahead is cancelled if its worker is paused meanwhile', async () => {
  const paused = createVersion('import time\ntime.sleep(60)', { subjectId: 'wkr_gone' });
  const before = fixture.sandbox.warm();
  const ahead = importAhead(paused, true);
  await waitUntil(() => fixture.sandbox.warm() === before + 1);
  fixture.sandbox.endOthers(paused.request);
  await ahead;
  expect(fixture.sandbox.warm()).toBe(before);
});
