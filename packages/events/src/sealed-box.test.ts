import { generateBoxKeys, openBox, sealTo } from './sealed-box';

const reader = generateBoxKeys();
const secret = Buffer.from('a secret with ümlauts and \0');

test('only the reader opens a box, and only for the context it was sealed for', () => {
  const box = sealTo(reader.publicKey, 'run_1', secret);
  expect(openBox(reader.privateKey, 'run_1', box)).toEqual(secret);
  expect(() => openBox(reader.privateKey, 'run_2', box)).toThrow();
  expect(() => openBox(generateBoxKeys().privateKey, 'run_1', box)).toThrow();
});

test('a changed box does not open', () => {
  const box = sealTo(reader.publicKey, 'run_1', secret);
  const data = Buffer.from(box.data, 'base64');
  data[0] = (data[0] ?? 0) ^ 1;
  expect(() => openBox(reader.privateKey, 'run_1', { ...box, data: data.toString('base64') })).toThrow();
});

test('the same secret is never sealed to the same bytes', () => {
  const [one, two] = [sealTo(reader.publicKey, 'run_1', secret), sealTo(reader.publicKey, 'run_1', secret)];
  expect(one.data).not.toBe(two.data);
  expect(one.key).not.toBe(two.key);
});
