/**
 * Prepares the executor's directory. Everything that sandboxes need is copied there: a checkout may be unreadable to
 * them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { loadMachineCertificates } from '../host/machine-certificates';
import { isAbandoned, ownerTag } from '../host/owner-tag';
import { chownToSandbox } from './change-owner';
import { buildFilter } from './seccomp';
import { INNER_UID, type SandboxFiles } from './settings';

export interface Layout extends SandboxFiles {
  /** uv and its facts about the interpreter, created with the first set of packages. */
  uvDir: string;
  /** Reports not yet sent: see spool.ts. Not visible to sandboxes. */
  spoolDir: string;
}

/** Below /etc. */
const BUNDLE = 'ssl/certs/ca-certificates.crt';
const SOURCE = path.join(__dirname, '../../python');
type Owner = { uid: number; gid: number };

/** Creates the directory, owned by the executor's later user. */
export function ensureDirectory(directory: string, owner: Owner | null): void {
  fs.mkdirSync(directory, { recursive: true, mode: 0o755 });
  const ownerUid = fs.statSync(directory).uid;
  if (ownerUid !== process.getuid?.() && ownerUid !== owner?.uid) {
    throw new Error(`${directory} belongs to uid ${ownerUid}: choose another EXECUTOR_DIR, or remove this directory`);
  }
  if (owner) fs.chownSync(directory, owner.uid, owner.gid);
}

/**
 * Creates the tree, with this process's own files in a part named after it, and removes leftovers of killed executors.
 * @param owner user of the sandboxes, if it differs from this process's uid.
 */
export function prepareLayout(directory: string, owner: Owner | null): Layout {
  ensureDirectory(directory, owner);
  const runDir = path.join(directory, 'run');
  const storeDir = path.join(directory, 'store');
  const spoolDir = path.join(directory, 'spool');
  for (const each of [runDir, storeDir]) fs.mkdirSync(each, { recursive: true, mode: 0o755 });
  fs.mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  for (const name of fs.readdirSync(runDir)) {
    if (isAbandoned(name)) fs.rmSync(path.join(runDir, name), { recursive: true, force: true });
  }
  const own = fs.mkdtempSync(path.join(runDir, `${ownerTag}-host-`));
  fs.chmodSync(own, 0o755);
  const layout = {
    storeDir,
    runDir,
    spoolDir,
    pythonDir: path.join(own, 'python'),
    etcDir: path.join(own, 'etc'),
    egressDir: path.join(own, 'egress'),
    uvDir: path.join(own, 'uv'),
    filterFile: path.join(own, 'all.bpf'),
    zygoteFilterFile: path.join(own, 'zygote.bpf'),
    childFilterFile: path.join(own, 'child.bpf'),
    warmFilterFile: path.join(own, 'warm.bpf'),
  };
  copyPython(SOURCE, layout.pythonDir);
  writeEtcFiles(layout.etcDir);
  fs.mkdirSync(layout.egressDir, { mode: 0o755 });
  fs.writeFileSync(layout.filterFile, buildFilter('all'), { mode: 0o644 });
  fs.writeFileSync(layout.zygoteFilterFile, buildFilter('zygote'), { mode: 0o644 });
  fs.writeFileSync(layout.childFilterFile, buildFilter('child'), { mode: 0o644 });
  fs.writeFileSync(layout.warmFilterFile, buildFilter('warm'), { mode: 0o644 });
  chownToSandbox(own, { runAs: owner });
  if (owner) for (const each of [runDir, storeDir, spoolDir]) fs.chownSync(each, owner.uid, owner.gid);
  return layout;
}

/** Makes every sandbox that is started from now on trust an authority. @param certificate PEM */
export function addTrustedCertificate({ etcDir }: Pick<Layout, 'etcDir'>, certificate: string): void {
  fs.appendFileSync(path.join(etcDir, BUNDLE), `\n${certificate.trim()}\n`);
}

export function removeOwnDirectory(layout: Layout): void {
  fs.rmSync(path.dirname(layout.pythonDir), { recursive: true, force: true });
}

function copyPython(from: string, to: string): void {
  fs.mkdirSync(to, { mode: 0o755 });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const target = path.join(to, entry.name);
    if (entry.name === '__pycache__') continue;
    if (entry.isDirectory()) copyPython(path.join(from, entry.name), target);
    else fs.writeFileSync(target, fs.readFileSync(path.join(from, entry.name)), { mode: 0o644 });
  }
}

function writeEtcFiles(directory: string): void {
  const certificates = path.join(directory, 'ssl', 'certs');
  fs.mkdirSync(certificates, { recursive: true, mode: 0o755 });
  fs.writeFileSync(path.join(directory, 'passwd'), `sandbox:x:${INNER_UID}:${INNER_UID}::/tmp:/bin/sh\n`);
  fs.writeFileSync(path.join(directory, 'group'), `sandbox:x:${INNER_UID}:\n`);
  fs.writeFileSync(path.join(directory, 'hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  fs.writeFileSync(path.join(directory, BUNDLE), loadMachineCertificates(), { mode: 0o644 });
}
