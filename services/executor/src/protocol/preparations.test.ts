import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { requestPreparation } from '@gantry/events';
import { until, writeWheel } from '@gantry/testing';
import { setupTestExecutor } from '../test/executor-fixture';

const wheels = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'wheels-'));
fs.chmodSync(wheels, 0o755);
const fixture = setupTestExecutor({
  packageIndex: { indexUrl: null, extraIndexUrls: [], findLinks: [wheels], fileHosts: [] },
});
beforeAll(async () => {
  for (const name of ['announced', 'urgent']) await writeWheel(wheels, { name, source: `VALUE = "${name}"` });
});

const untilLogged = (message: string, dependency: string) =>
  until(() =>
    fixture.logs.lines.some(
      (line) => line.msg === message && (line.dependencies as string[] | undefined)?.includes(dependency),
    ),
  );

test('an announced set is installed before its first run', async () => {
  requestPreparation(fixture.bus, { dependencies: ['announced==1.0'] });
  await untilLogged('prepared', 'announced==1.0');
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
  await untilLogged('prepared', 'announced');
  const { finished } = await fixture.service.run('def run(): pass', { dependencies: ['nosuchpackage'] });
  expect(finished.error).toMatchObject({
    code: 'dependency_install',
    message: expect.stringContaining('There is no package called nosuchpackage'),
  });
});

test('announced sets never block runs, however many there are', async () => {
  for (let i = 0; i < 300; i++) requestPreparation(fixture.bus, { dependencies: [`nosuchpackage${i}`] });
  await untilLogged('could not be prepared', 'nosuchpackage0');
  const { finished } = await fixture.service.run('import urgent\ndef run(): return urgent.VALUE', {
    dependencies: ['urgent'],
  });
  expect(finished.output).toBe('urgent');
  expect(fixture.logs.text()).not.toContain('nosuchpackage299');
});
