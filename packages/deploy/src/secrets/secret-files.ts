/** Secrets as files: `<directory>/<reader>/<key>`. Each reader's directory may be a volume of its own. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { readers, type Secrets } from './installation-secrets';

/** Programs of others that run as a user of their own choice; their volume is mounted nowhere else. */
const FOREIGN = ['postgres', 'nats', 's3', 'grafana'];

export function readSecretFiles(dir: string): Secrets {
  return Object.fromEntries(readers.map((reader) => [reader, readValues(path.join(dir, reader))]));
}

/** Writes what differs: each value wholly or not at all. @returns the names of what is new */
export function writeSecretFiles(dir: string, secrets: Secrets): string[] {
  const kept = readSecretFiles(dir);
  const changed: string[] = [];
  for (const [reader, values] of Object.entries(secrets)) {
    fs.mkdirSync(path.join(dir, reader), { recursive: true, mode: 0o755 });
    for (const [key, value] of Object.entries(values)) {
      if (kept[reader]?.[key] === value) continue;
      writeFileAtomic(path.join(dir, reader, key), value, FOREIGN.includes(reader) ? 0o444 : 0o400);
      changed.push(`${reader}/${key}`);
    }
  }
  return changed;
}

/** Keeps that many in stock. @returns how many were missing */
export function fillCredentialPool(dir: string, count: number, generate: () => string): number {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const missing = count - fs.readdirSync(dir).filter((name) => name.endsWith('.creds')).length;
  for (let i = 0; i < missing; i++) {
    writeFileAtomic(path.join(dir, `${randomBytes(8).toString('hex')}.creds`), generate(), 0o600);
  }
  return Math.max(missing, 0);
}

function readValues(dir: string): Record<string, string> {
  if (!fs.existsSync(dir)) return {};
  const files = fs
    .readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !isPartial(entry.name));
  return Object.fromEntries(files.map(({ name }) => [name, fs.readFileSync(path.join(dir, name), 'utf8')]));
}

const isPartial = (name: string): boolean => name.endsWith('.new');

function writeFileAtomic(file: string, text: string, mode: number): void {
  fs.rmSync(`${file}.new`, { force: true });
  fs.writeFileSync(`${file}.new`, text, { mode, flush: true });
  fs.renameSync(`${file}.new`, file);
}
