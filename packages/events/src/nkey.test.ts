import { nkeys } from 'nats';
import { createKey, parseSeed } from './nkey';

test.each(['operator', 'account', 'user'] as const)(
  'the key of an %s is what the client library makes of its seed',
  (role) => {
    const key = createKey(role);
    const libraryKey = nkeys.fromSeed(Buffer.from(key.seed));
    const data = Buffer.from('nonce');
    expect(libraryKey.getPublicKey()).toBe(key.publicKey);
    expect(libraryKey.verify(data, key.sign(data))).toBe(true);
    expect(parseSeed(`${key.seed}\n`).publicKey).toBe(key.publicKey);
  },
);

/** Changes a letter other than the last, of whose five bits two are unused. */
const corruptSeed = (seed: string) => `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`;

test.each([
  ['a public key', () => createKey('user').publicKey],
  ['a seed with a wrong letter', () => corruptSeed(createKey('user').seed)],
  ['nothing', () => ''],
  ['other text', () => 'not a seed'],
])('%s is refused', (_what, text) => {
  expect(() => parseSeed(text())).toThrow(/^not (a NATS key seed|base32)/);
});
