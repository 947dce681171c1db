import { createOpener, createSealer, generateBoxKeys } from './sealed-box';

const reader = generateBoxKeys();
const open = createOpener(reader.privateKey);
const seal = createSealer();
const secret = Buffer.from('a secret with ümlauts and \0');

test('only the recipient opens a box, and only with the context it was sealed for', () => {
  const box = seal(reader.publicKey, 'run_1', secret);
  expect(open('run_1', box)).toEqual(secret);
  expect(() => open('run_2', box)).toThrow();
  expect(() => createOpener(generateBoxKeys().privateKey)('run_1', box)).toThrow();
});

test('a modified box does not open, wherever it was modified', () => {
  const box = seal(reader.publicKey, 'run_1', secret);
  for (let at = 0; at < box.length; at += 5) {
    const changed = Buffer.from(box);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => open('run_1', changed)).toThrow();
  }
  expect(() => open('run_1', box.subarray(0, 40))).toThrow('truncated');
});

test('the same secret is never sealed to the same bytes', () => {
  const boxes = Array.from({ length: 100 }, () => seal(reader.publicKey, 'run_1', secret).subarray(32).toString('hex'));
  expect(new Set(boxes).size).toBe(100);
  expect(new Set(boxes.map((box) => box.slice(0, 24))).size).toBe(100);
});

test('many readers and writers do not interfere with each other', () => {
  const readers = Array.from({ length: 600 }, generateBoxKeys);
  const boxes = readers.map(({ publicKey }) => seal(publicKey, 'run_1', secret));
  readers.forEach(({ privateKey }, i) => {
    expect(createOpener(privateKey)('run_1', boxes[i] as Buffer)).toEqual(secret);
  });
  const writers = Array.from({ length: 600 }, () => createSealer()(reader.publicKey, 'run_1', secret));
  for (const box of writers) expect(open('run_1', box)).toEqual(secret);
});

test('a key agreement expires', () => {
  const before = seal(reader.publicKey, 'run_1', secret);
  const now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 11 * 60_000);
  const after = seal(reader.publicKey, 'run_1', secret);
  clock.mockRestore();
  expect(after.subarray(0, 32)).not.toEqual(before.subarray(0, 32));
  expect(open('run_1', before)).toEqual(open('run_1', after));
});
