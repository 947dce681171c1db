import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { openLogFile, shortenLog } from './log-file';

test('a log at its limit starts anew and keeps one predecessor', async () => {
  const file = path.join(createTemporaryDir('log'), 'service.log');
  const log = openLogFile(file, 100);
  for (let i = 0; i < 40; i++) log.write(`line number ${i}`);
  await log.close();
  expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(['service.log', 'service.log.1']);
  const kept = fs.readFileSync(`${file}.1`, 'utf8') + fs.readFileSync(file, 'utf8');
  expect(kept).toContain('line number 39');
  expect(kept.length).toBeLessThan(300);
});

test('a log that another process writes is truncated in place, and keeps one predecessor', () => {
  const file = path.join(createTemporaryDir('log'), 'requests.log');
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

test('a log continues after the disk was full, and notes that lines are missing', async () => {
  const file = path.join(createTemporaryDir('log'), 'service.log');
  // Every write to this device fails as on a full disk.
  fs.symlinkSync('/dev/full', file);
  const { complaints, release } = catchComplaints();
  const log = openLogFile(file);
  for (let i = 0; i < 5; i++) {
    log.write(`lost ${i}`);
    await waitUntil(() => complaints.length > 0);
  }
  fs.rmSync(file);
  await waitUntil(() => {
    log.write('kept');
    return fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes('kept');
  });
  await log.close();
  release();
  expect(fs.readFileSync(file, 'utf8')).toMatch(/^at least \d+ lines are missing here\nkept\n/);
  expect(complaints).toEqual([expect.stringContaining(`cannot write ${file}: ENOSPC`)]);
});

function catchComplaints() {
  const complaints: string[] = [];
  const written = jest.spyOn(process.stderr, 'write').mockImplementation((text) => complaints.push(String(text)) > 0);
  return { complaints, release: () => written.mockRestore() };
}
