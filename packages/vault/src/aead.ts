/**
 * AES-256-GCM with a random nonce: `nonce (12) | ciphertext | tag (16)`. One key may seal 2^32 messages (NIST SP
 * 800-38D, 8.3).
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function encrypt(key: Buffer, associatedData: Buffer, plaintext: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associatedData);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** @throws Error if the key, the associated data, or any bit of the ciphertext differs. */
export function decrypt(key: Buffer, associated: Buffer, ciphertext: Buffer): Buffer {
  if (ciphertext.length < NONCE_BYTES + TAG_BYTES) throw new Error('the sealed value is truncated');
  const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associated).setAuthTag(ciphertext.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(ciphertext.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Unambiguous for any content of the parts, so that no two records share their associated data. */
export const encodeAssociatedData = (...parts: (string | number)[]): Buffer => Buffer.from(JSON.stringify(parts));
