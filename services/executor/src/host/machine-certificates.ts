/** Loads the certificate authorities that this machine trusts: https must work with a company's own too. */
import fs from 'node:fs';
import { rootCertificates } from 'node:tls';

const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Returns PEM; falls back to Node's root certificates where the machine has no bundle. */
export function loadMachineCertificates(): string {
  const bundle = [process.env.SSL_CERT_FILE, ...BUNDLES].find((file) => file && fs.existsSync(file));
  return bundle ? fs.readFileSync(bundle, 'utf8') : `${rootCertificates.join('\n')}\n`;
}

/** Loads the machine's certificates and those of NODE_EXTRA_CA_CERTS, for connections of this process itself. */
export function loadTrustedCertificates(): string[] {
  const extra = process.env.NODE_EXTRA_CA_CERTS;
  return [loadMachineCertificates(), ...(extra && fs.existsSync(extra) ? [fs.readFileSync(extra, 'utf8')] : [])];
}
