import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type InstallationReport, installationReport, requestPreparation, runSubjects } from '@gantry/events';
import { waitUntil, writeWheel } from '@gantry/testing';
import { type ExecutorFixture, setupTestExecutor } from '../test/executor-fixture';

const wheels = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'wheels-'));
fs.chmodSync(wheels, 0o755);
const packageIndex = { indexUrl: null, extraIndexUrls: [], findLinks: [wheels], fileHosts: [] };
const fixture = setupTestExecutor({ packageIndex });
/** Its queue stays full for longer than a test lasts. */
const floodedFixture = setupTestExecutor({ packageIndex });
beforeAll(async () => {
  for (const name of ['announced', 'urgent', 'reported'])
    await writeWheel(wheels, { name, source: `VALUE = "${name}"` });
});

const untilLogged = ({ logs }: ExecutorFixture, message: string, dependency: string) =>
  waitUntil(() =>
    logs.lines.some(
      (line) => line.msg === message && (line.dependencies as string[] | undefined)?.includes(dependency),
    ),
  );

test('an announced set is installed before its first run', async () => {
  requestPreparation(fixture.bus, { dependencies: ['announced==1.0'] });
  await untilLogged(fixture, 'prepared', 'announced==1.0');
  const { finished, log } = await fixture.service.run('import announced\ndef run(): return announced.VALUE', {
    dependencies: ['announced==1.0'],
  });
  expect(finished).toMatchObject({ status: 'completed', output: 'announced' });
  expect(log).toEqual([]);
});

test('a set that cannot be installed fails only in its first run, and others are still prepared', async () => {
  requestPreparation(fixture.bus, { dependencies: ['nosuchpackage'] });
  requestPreparation(fixture.bus, { dependencies: ['-r /etc/passwd'] });
  requestPreparation(fixture.bus, { dependencies: ['announced'] });
  await untilLogged(fixture, 'prepared', 'announced');
  const { finished } = await fixture.service.run('def run(): pass', { dependencies: ['nosuchpackage'] });
  expect(finished.error).toMatchObject({
    code: 'dependency_install',
    message: expect.stringContaining('There is no package called nosuchpackage'),
  });
});

test('an announced installation is reported: its phases, its packages, and the error of a run without paths', async () => {
  const reports: InstallationReport[] = [];
  fixture.bus.nc.subscribe(runSubjects.installation('automation', '*'), {
    callback: (_, message) => void reports.push(installationReport.parse(message.json())),
  });
  await fixture.bus.nc.flush();
  const announce = (id: string, dependency: string) =>
    requestPreparation(fixture.bus, { dependencies: [dependency], installation: { source: 'automation', id } });
  const listReports = (id: string) => reports.filter((one) => one.id === id);
  const untilReported = (id: string, status: string) =>
    waitUntil(() => listReports(id).find((one) => one.status === status));
  announce('ins_1', 'reported');
  announce('ins_2', 'nosuchreported');
  expect(await untilReported('ins_1', 'installed')).toMatchObject({
    platform: expect.stringMatching(/^cp3/),
    packages: [{ name: 'reported', version: '1.0', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
  const phases = listReports('ins_1').flatMap((one) => (one.status === 'installing' ? [one.progress?.phase] : []));
  expect(phases).toEqual(expect.arrayContaining([undefined, 'resolving', 'installing']));
  const sequences = listReports('ins_1').map(({ sequence }) => sequence);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  expect(await untilReported('ins_2', 'failed')).toMatchObject({
    error: 'There is no package called nosuchreported. Check its spelling.',
  });
});

test('announced sets never block runs, however many there are', async () => {
  for (let i = 0; i < 300; i++) requestPreparation(floodedFixture.bus, { dependencies: [`nosuchpackage${i}`] });
  await untilLogged(floodedFixture, 'could not be prepared', 'nosuchpackage0');
  const { finished } = await floodedFixture.service.run('import urgent\ndef run(): return urgent.VALUE', {
    dependencies: ['urgent'],
  });
  expect(finished.output).toBe('urgent');
  expect(floodedFixture.logs.text()).not.toContain('nosuchpackage299');
});
