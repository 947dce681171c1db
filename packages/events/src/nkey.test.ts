import { nkeys } from 'nats';
import { keyOf, newKey } from './nkey';

test.each(['operator', 'account', 'user'] as const)(
  'the key of an %s is what the client library makes of its seed',
  (role) => {
    const key = newKey(role);
    const theirs = nkeys.fromSeed(Buffer.from(key.seed));
    const data = Buffer.from('nonce');
    expect(theirs.getPublicKey()).toBe(key.publicKey);
    expect(theirs.verify(data, key.sign(data))).toBe(true);
    expect(keyOf(`${key.seed}\n`).publicKey).toBe(key.publicKey);
  },
);

/** Changes a letter other than the last, of whose five bits two are unused. */
const withWrongLetter = (seed: string) => `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`;

test.each([
  ['a public key', () => newKey('user').publicKey],
  ['a seed with a wrong letter', () => withWrongLetter(newKey('user').seed)],
  ['nothing', () => ''],
  ['other text', () => 'not a seed'],
])('%s is refused', (_what, text) => {
  expect(() => keyOf(text())).toThrow(/^not (the seed of a NATS key|base32)/);
});
