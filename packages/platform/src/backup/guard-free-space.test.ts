import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';
import { findTool } from '../tools/find-tool';

const DISK_BYTES = 128 << 20;
const PROGRAM = `
  const { guardFreeSpace } = require(process.argv[1]);
  const fs = require('node:fs');
  (async () => {
    const zeros = Buffer.alloc(1 << 20);
    const endless = (async function* () { for (;;) yield zeros; })();
    const file = fs.openSync('file', 'w');
    for await (const chunk of guardFreeSpace('.', endless)) fs.writeSync(file, chunk);
  })().catch((err) => process.stdout.write(err.message));
`;

const bwrap = findTool('bwrap');
const withBwrap = bwrap ? test : test.skip;

withBwrap('content without an end stops while the disk still has room', () => {
  const disk = createTemporaryDir('disk');
  const built = path.join(__dirname, '../../dist/backup/guard-free-space.js');
  const mounts = ['--dev-bind', '/', '/', '--size', String(DISK_BYTES), '--tmpfs', disk, '--chdir', disk];
  const command = [...mounts, process.execPath, '-e', PROGRAM, built];
  const { stdout } = spawnSync(bwrap as string, command, { encoding: 'utf8' });
  expect(stdout).toMatch(/^\. is on a disk with only [1-9] MB left: free up space/);
});
