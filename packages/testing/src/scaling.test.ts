import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../../..');

test('docs/operations/scaling.md states what the simulation computes from the measurements', () => {
  const printed = execFileSync(process.execPath, [path.join(root, 'bench/scale.mjs')], { encoding: 'utf8' });
  const page = fs.readFileSync(path.join(root, 'docs/operations/scaling.md'), 'utf8');
  const blocks = printed.trim().split('\n\n');
  expect(blocks).toHaveLength(5);
  for (const block of blocks) expect(page).toContain(block);
});
