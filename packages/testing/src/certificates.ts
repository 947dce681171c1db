/** A CA of the tests' own, and certificates that it signs, by openssl. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from './run-dir';

/** Files in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface TestCa {
  /** Its certificate in PEM: the file, and what it contains. */
  file: string;
  pem: string;
  /** @param names as in `DNS:localhost,IP:127.0.0.1` */
  issue(names: string): Certificate;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export function createCa(): TestCa {
  const dir = createTemporaryDir('ca');
  fs.chmodSync(dir, 0o755);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const getFile = (name: string) => path.join(dir, name);
  openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test CA', '-days', '2', '-keyout', 'ca.key', '-out', 'ca.pem');
  return {
    file: getFile('ca.pem'),
    pem: fs.readFileSync(getFile('ca.pem'), 'utf8'),
    issue: (names) => {
      const name = `issued-${fs.readdirSync(dir).length}`;
      const [key, request, cert] = [`${name}.key`, `${name}.csr`, `${name}.pem`];
      fs.writeFileSync(getFile('names'), `subjectAltName = ${names}\n`);
      openssl('req', ...NEW_KEY, '-subj', '/CN=test', '-keyout', key, '-out', request);
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2'];
      openssl('x509', '-req', '-in', request, ...signed, '-out', cert);
      return { cert: getFile(cert), key: getFile(key) };
    },
  };
}
