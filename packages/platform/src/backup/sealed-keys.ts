/** The keys of an installation inside its backup: sealed by a passphrase, and only good for the file they are in. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/** N = 2^17, r = 8, p = 1: OWASP's cheat sheet on storing passwords. Takes 128 MB and a third of a second. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 << 20 };
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

export const newSalt = (): string => randomBytes(16).toString('base64');

/** Derives the key that seals the installation's own keys, and the one that authenticates the whole file. */
export async function derivePassphraseKeys(passphrase: string, salt: string) {
  const bytes = await derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 2 * KEY_BYTES, COST);
  return { sealing: bytes.subarray(0, KEY_BYTES), mac: bytes.subarray(KEY_BYTES) };
}

/** @param context what the sealed keys belong to: they open together with it only */
export function seal(plain: Buffer, key: Buffer, context: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(context);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws Error with another key or context, or if a byte was changed */
export function openSealed(sealed: Buffer, key: Buffer, context: Buffer): Buffer {
  const tagAt = Math.max(NONCE_BYTES, sealed.length - TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(context).setAuthTag(sealed.subarray(tagAt));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final()]);
}
