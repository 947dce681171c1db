import { X509Certificate } from 'node:crypto';
import { z } from 'zod';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** CAs in PEM, in place of those that Node.js trusts. */
export const caCertificates = z
  .string()
  .refine(isCertificateBundle, 'must contain CA certificates in PEM format: -----BEGIN CERTIFICATE----- ...')
  .optional();

function isCertificateBundle(pem: string): boolean {
  try {
    return (pem.match(PEM) ?? []).map((one) => new X509Certificate(one)).length > 0;
  } catch {
    return false;
  }
}

const UNTRUSTED_CERTIFICATE =
  /DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|self-signed certificate|unable to (verify|get)/;
const HOST_NAME_MISMATCH = /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/;
const EXPIRED_CERTIFICATE = /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate (has expired|is not yet valid)/;

/**
 * The reason for a refused certificate, and its remedy. Clients wrap such errors, and some keep only the text.
 * @param setting that names the CA
 * @returns undefined for any other failure
 */
export function describeCertificateProblem(
  { code, message }: Error & { code?: string },
  setting: string,
): string | undefined {
  const text = `${code} ${message}`;
  if (UNTRUSTED_CERTIFICATE.test(text)) {
    return `its certificate is signed by a CA that is not trusted here: set ${setting} to that CA's certificate`;
  }
  if (HOST_NAME_MISMATCH.test(text)) {
    return `its certificate is for other names: use one of those names in the address, or issue a certificate for this address (${message})`;
  }
  return EXPIRED_CERTIFICATE.test(text)
    ? 'its certificate has expired or is not valid yet: renew it, or correct the clock'
    : undefined;
}
