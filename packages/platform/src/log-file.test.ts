import fs from 'node:fs';
import path from 'node:path';
import { temporaryDir } from '@gantry/testing';
import { openLogFile } from './log-file';

test('a log at its limit starts anew and keeps one predecessor', async () => {
  const file = path.join(temporaryDir('log'), 'service.log');
  const log = openLogFile(file, 100);
  for (let i = 0; i < 40; i++) log.write(`line number ${i}`);
  await log.close();
  expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(['service.log', 'service.log.1']);
  const kept = fs.readFileSync(`${file}.1`, 'utf8') + fs.readFileSync(file, 'utf8');
  expect(kept).toContain('line number 39');
  expect(kept.length).toBeLessThan(300);
});
