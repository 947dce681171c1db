/**
 * Encrypts to one recipient: X25519 with an ephemeral key, HKDF-SHA-256, AES-256-GCM. Jobs cross NATS only in this
 * form.
 *
 * A box is `ephemeral public key (32) | nonce (12) | ciphertext | tag (16)`.
 *
 * Key agreement costs each side about fifty times as much as the encryption. An ephemeral key therefore serves one
 * reader for KEY_MS, with a random nonce per box, and the reader caches its agreements.
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

/** DER header of a raw X25519 public key (RFC 8410): Node imports keys in DER only. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const INFO = 'gantry sealed box v2';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const KEY_MS = 10 * 60_000;
/** Cached agreements on either side; an executor has one for each replica. */
const AGREEMENTS_MAX = 256;

export interface BoxKeys {
  /** Raw public key, base64: the key that others seal to. */
  publicKey: string;
  privateKey: KeyObject;
}

/**
 * @param context associated data, authenticated but not sent: the reader must supply the same value, so boxes cannot
 * be swapped
 */
export type Seal = (publicKey: string, context: string, plaintext: Buffer) => Buffer;
/** @throws Error if the box was made for another key or context, or was modified */
export type OpenBox = (context: string, box: Uint8Array) => Buffer;

export function generateBoxKeys(): BoxKeys {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: toRawPublicKey(publicKey).toString('base64'), privateKey };
}

export function createSealer(): Seal {
  const agreements = new Map<string, { sender: Buffer; key: Buffer; until: number }>();

  function deriveKey(publicKey: string) {
    const known = agreements.get(publicKey);
    if (known && known.until > Date.now()) return known;
    const ephemeral = generateKeyPairSync('x25519');
    const sender = toRawPublicKey(ephemeral.publicKey);
    const key = deriveSharedKey(ephemeral.privateKey, Buffer.from(publicKey, 'base64'), sender);
    const agreement = { sender, key, until: Date.now() + KEY_MS };
    cacheAgreement(agreements, publicKey, agreement);
    return agreement;
  }

  return (publicKey, context, plaintext) => {
    const { sender, key } = deriveKey(publicKey);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([sender, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  };
}

export function createOpener(privateKey: KeyObject): OpenBox {
  const agreements = new Map<string, Buffer>();

  function deriveKey(sender: Buffer): Buffer {
    const name = sender.toString('latin1');
    const known = agreements.get(name);
    if (known) return known;
    const key = deriveSharedKey(privateKey, sender, sender);
    cacheAgreement(agreements, name, key);
    return key;
  }

  return (context, bytes) => {
    const box = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (box.length < KEY_BYTES + NONCE_BYTES + TAG_BYTES) throw new Error('the sealed box is truncated');
    const key = deriveKey(Buffer.from(box.subarray(0, KEY_BYTES)));
    const nonce = box.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(box.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(box.subarray(KEY_BYTES + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  };
}

/** Caches an agreement and evicts the oldest. */
function cacheAgreement<T>(agreements: Map<string, T>, name: string, agreement: T): void {
  agreements.delete(name);
  agreements.set(name, agreement);
  for (const oldest of agreements.keys()) {
    if (agreements.size <= AGREEMENTS_MAX) return;
    agreements.delete(oldest);
  }
}

function deriveSharedKey(privateKey: KeyObject, peerKey: Buffer, salt: Buffer): Buffer {
  const key = Buffer.concat([SPKI_PREFIX, peerKey]);
  const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
  return Buffer.from(hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), salt, INFO, KEY_BYTES));
}

function toRawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}
