/**
 * Encryption to one reader: X25519 with an ephemeral key, HKDF-SHA-256, AES-256-GCM. Secrets cross NATS only like this.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { SealedBox } from './run-protocol';

/** DER header of a raw X25519 public key (RFC 8410): Node imports keys in DER only. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const INFO = 'gantry sealed box v1';
const TAG_BYTES = 16;

export interface BoxKeys {
  /** Raw public key, base64: what others seal to. */
  publicKey: string;
  privateKey: KeyObject;
}

export function generateBoxKeys(): BoxKeys {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: rawPublicKey(publicKey).toString('base64'), privateKey };
}

/** @param context is authenticated, not sent: the reader must name the same one (a run id, so boxes can't be swapped). */
export function sealTo(publicKey: string, context: string, plaintext: Buffer): SealedBox {
  const ephemeral = generateKeyPairSync('x25519');
  const reader = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'base64')]),
    format: 'der',
    type: 'spki',
  });
  const key = sharedKey(ephemeral.privateKey, reader, rawPublicKey(ephemeral.publicKey));
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const data = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return {
    key: rawPublicKey(ephemeral.publicKey).toString('base64'),
    iv: iv.toString('base64'),
    data: data.toString('base64'),
  };
}

/** Throws if the box was made for another key or context, or was changed. */
export function openBox(privateKey: KeyObject, context: string, box: SealedBox): Buffer {
  const writer = Buffer.from(box.key, 'base64');
  const sender = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, writer]), format: 'der', type: 'spki' });
  const key = sharedKey(privateKey, sender, writer);
  const data = Buffer.from(box.data, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(box.iv, 'base64'), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(data.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]);
}

function sharedKey(privateKey: KeyObject, publicKey: KeyObject, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), salt, INFO, 32));
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}
