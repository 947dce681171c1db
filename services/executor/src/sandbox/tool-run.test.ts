import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { testSettings } from '../test/sandbox-fixture';
import { toolRunner } from './tool-run';

function directory(): string {
  const made = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'tool-'));
  fs.chmodSync(made, 0o755);
  return made;
}

test('a tool can start only its one allowed program, and that program can start none', async () => {
  const [programs, workDir] = [directory(), directory()];
  const uv = path.join(programs, 'uv');
  fs.writeFileSync(
    uv,
    '#!/bin/sh\necho started > /work/said\n/usr/bin/id >> /work/said || echo refused >> /work/said\n',
  );
  fs.chmodSync(uv, 0o755);
  const runTool = toolRunner({ ...testSettings(), storeDir: directory() });
  const request = {
    config: { tool: 'interpreter' },
    workDir,
    readOnly: [programs],
    timeoutMs: 20_000,
    uv: { path: uv },
  };
  await runTool(request);
  expect(fs.readFileSync(path.join(workDir, 'said'), 'utf8')).toBe('started\nrefused\n');
});
