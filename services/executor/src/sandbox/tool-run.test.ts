import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildTestSettings } from '../test/sandbox-fixture';
import { createToolRunner } from './tool-run';

function createDirectory(): string {
  const created = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'tool-'));
  fs.chmodSync(created, 0o755);
  return created;
}

test('a tool can start only its one allowed program, and that program can start none', async () => {
  const [programs, workDir] = [createDirectory(), createDirectory()];
  const uv = path.join(programs, 'uv');
  fs.writeFileSync(
    uv,
    '#!/bin/sh\necho started > /work/said\n/usr/bin/id >> /work/said || echo refused >> /work/said\n',
  );
  fs.chmodSync(uv, 0o755);
  const runTool = createToolRunner({ ...buildTestSettings(), storeDir: createDirectory() });
  const request = {
    config: { tool: 'interpreter' },
    workDir,
    readOnly: [programs],
    timeoutMs: 120_000,
    uv: { path: uv },
  };
  await runTool(request);
  expect(fs.readFileSync(path.join(workDir, 'said'), 'utf8')).toBe('started\nrefused\n');
});
