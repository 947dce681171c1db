import { createRedactor } from '@gantry/masking';
import { createRunLog, type LogEvent } from './log-lines';

function createLog(bytesMax = 100_000, secrets: string[] = []) {
  const lines: Omit<LogEvent, 'seq' | 'at' | 'type'>[] = [];
  const log = createRunLog({ redactor: createRedactor(secrets), bytesMax, emit: (line) => lines.push(line) });
  return { log, lines, texts: () => lines.map(({ text }) => text) };
}

test('lines are cut after masking, so a secret that spans lines is masked', () => {
  const { log, texts } = createLog(100_000, ['first\nsecond']);
  for (const byte of Buffer.from('a first\nsecond b\nrest')) log.write('stdout', Buffer.from([byte]));
  log.end();
  expect(texts()).toEqual(['a *** b', 'rest']);
});

test('stdout is info, stderr a warning, and the two do not mix', () => {
  const { log, lines } = createLog();
  log.write('stdout', Buffer.from('o1'));
  log.write('stderr', Buffer.from('e1\r\n'));
  log.write('stdout', Buffer.from(' o2\n'));
  expect(lines).toEqual([
    { stream: 'stderr', level: 'warning', text: 'e1' },
    { stream: 'stdout', level: 'info', text: 'o1 o2' },
  ]);
});

test('a very long line becomes several, and no character is split', () => {
  const { log, texts } = createLog();
  log.write('stdout', Buffer.from('é'.repeat(20_000)));
  log.end();
  expect(texts().length).toBeGreaterThan(2);
  expect(texts().join('')).toBe('é'.repeat(20_000));
});

test('a flood of output is truncated, with one notice', () => {
  const { log, lines } = createLog(1_000);
  for (let i = 0; i < 10_000; i++) log.write('stdout', Buffer.from('\n'));
  log.record('info', 'late', undefined);
  log.end();
  expect(lines.length).toBeLessThan(30);
  expect(lines.filter(({ stream }) => stream === 'platform')).toEqual([
    { stream: 'platform', level: 'warning', text: expect.stringMatching(/1000 bytes was reached/) },
  ]);
});

test('records keep their level and fields, masked; several lines are several events', () => {
  const { log, lines } = createLog(100_000, ['hunter22']);
  log.record('error', 'hunter22 failed\nagain', { user: 'hunter22' });
  log.record('nonsense', 'x', undefined);
  expect(lines).toEqual([
    { stream: 'context', level: 'error', text: '*** failed', fields: { user: '***' } },
    { stream: 'context', level: 'error', text: 'again' },
    { stream: 'context', level: 'info', text: 'x' },
  ]);
});

test('NUL, which a database refuses, is replaced', () => {
  const { log, texts } = createLog();
  log.write('stdout', Buffer.from('a\0b\n'));
  expect(texts()).toEqual(['a\ufffdb']);
});
