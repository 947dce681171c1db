import fs from 'node:fs';
import path from 'node:path';
import { temporaryDir } from '@gantry/testing';
import { openLogFile, shortenLog } from './log-file';

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

test('a log that another process writes is shortened under its hands, and keeps one predecessor', () => {
  const file = path.join(temporaryDir('log'), 'requests.log');
  const writer = fs.openSync(file, 'a');
  fs.writeSync(writer, 'x'.repeat(200));
  shortenLog(file, 500);
  expect(fs.existsSync(`${file}.1`)).toBe(false);
  fs.writeSync(writer, 'y'.repeat(400));
  shortenLog(file, 500);
  fs.writeSync(writer, 'and on');
  fs.closeSync(writer);
  expect(fs.readFileSync(file, 'utf8')).toBe('and on');
  expect(fs.statSync(`${file}.1`).size).toBe(600);
});
