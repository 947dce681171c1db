/**
 * Creates the certificate authority that intercepts TLS. Its key is created when the executor starts, never leaves this
 * process and ends with it; nothing but the sandboxes of this executor trusts it.
 */
import 'reflect-metadata'; // @peculiar/x509 needs it to be loaded before
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { LRUCache } from 'lru-cache';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const NAME = 'CN=Gantry egress, O=Gantry';
const HOUR_MS = 3_600_000;
/** A clock may have been set back since. */
const BACKDATED_MS = HOUR_MS;
/**
 * An executor that runs for longer than this has to be restarted: sandboxes that wait for a run trust only its first
 * key.
 */
const AUTHORITY_MS = 3 * 365 * 24 * HOUR_MS;
/** Longer than any run. */
const LEAF_MS = 48 * HOUR_MS;
const LEAF_TTL_MS = 24 * HOUR_MS;
const LEAVES_MAX = 512;

export interface Leaf {
  /** PEM. */
  cert: string;
  key: string;
}

export type CertificateAuthority = Awaited<ReturnType<typeof createCertificateAuthority>>;

export async function createCertificateAuthority() {
  const keys = await generateKeys();
  const leafKeys = await generateKeys();
  const leafKey = toPem(await webcrypto.subtle.exportKey('pkcs8', leafKeys.privateKey));
  const root = await X509CertificateGenerator.createSelfSigned({
    name: NAME,
    keys,
    signingAlgorithm: ALGORITHM,
    ...buildValidity(AUTHORITY_MS),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  async function issueLeaf(host: string): Promise<Leaf> {
    const leaf = await X509CertificateGenerator.create({
      // The name is in the extension alone, since a common name is limited to 64 characters.
      subject: 'O=Gantry egress',
      issuer: root.subject,
      publicKey: leafKeys.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      ...buildValidity(LEAF_MS),
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([{ type: isIP(host) ? 'ip' : 'dns', value: host }]),
        await AuthorityKeyIdentifierExtension.create(keys.publicKey),
        await SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
      ],
    });
    return { cert: leaf.toString('pem'), key: leafKey };
  }

  /** Promises: two connections at once need one certificate. */
  const leaves = new LRUCache<string, Promise<Leaf>>({ max: LEAVES_MAX, ttl: LEAF_TTL_MS });
  return {
    /** PEM. */
    certificate: root.toString('pem'),
    /** @param host a name in lower case or an IP address */
    getLeaf(host: string): Promise<Leaf> {
      const cached = leaves.get(host);
      if (cached) return cached;
      const issued = issueLeaf(host);
      leaves.set(host, issued);
      issued.catch(() => leaves.delete(host));
      return issued;
    },
  };
}

const generateKeys = () =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

function buildValidity(ms: number) {
  const now = Date.now();
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + ms) };
}

const toPem = (der: ArrayBuffer) =>
  `-----BEGIN PRIVATE KEY-----\n${Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
