/**
 * Installs a set of requirements: they are resolved, wheels that are not stored are downloaded, each is installed in
 * a sandbox of its own, and the set is assembled from them.
 *
 * The sandbox's statements about a wheel only select which stored wheel this set uses. A downloaded one is stored under
 * the digest of its bytes as computed here.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { InstallationProgress, LockedPackage } from '@gantry/events';
import { z } from 'zod';
import type { EgressProxy } from '../egress/proxy';
import { ToolError, type ToolRequest, type ToolRunner } from '../sandbox/tool-run';
import type { DirectoryStore } from '../store/directory-store';
import { parseUntrusted } from '../untrusted/untrusted-json';
import { explainFailure, normalizeName } from './explain-failure';
import {
  buildIndexOptions,
  findIndexCredentials,
  listIndexDirectories,
  listIndexOrigins,
  type PackageIndex,
} from './package-index';
import { DependencyError } from './requirement';
import { type Uv, withUv } from './uv';
import { computeFileDigest, createWheelStore, forEachConcurrently } from './wheel-store';

/**
 * For resolving and downloading a set, and again for installing each wheel: sets that need the same one wait for it
 * together.
 */
const INSTALL_TIMEOUT_MS = 120_000;
const DOWNLOAD_BYTES_MAX = 2 * 2 ** 30;
const WHEELS_MAX = 1_000;
const RESOLVED_BYTES_MAX = 4 << 20;
const CONCURRENT_INSTALLS_MAX = 2;
/** Below the set's own directory, until it is complete; with a random suffix that no wheel can guess. */
const SCRATCH = '.installing-';

const WHEEL_FILE = /^[A-Za-z0-9][A-Za-z0-9_.!+-]{0,250}\.whl$/;
const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const resolvedWheelSchema = z
  .object({ url: z.url().max(4_000), sha256: digestSchema.nullable() })
  .transform((wheel) => ({ ...wheel, file: decodeURIComponent(path.basename(new URL(wheel.url).pathname)) }))
  .refine(({ file }) => WHEEL_FILE.test(file), 'not a wheel');
type ResolvedWheel = z.infer<typeof resolvedWheelSchema>;
/** Reply of the tool `resolve`. */
const resolvedWheelsSchema = z.array(resolvedWheelSchema).max(WHEELS_MAX);
/** Matches pip: by default uv takes the first index that has the package, whatever others have. */
const BEST_OF_ALL_INDEXES = ['--index-strategy', 'unsafe-best-match'];

/** A wheel of the set. */
interface Wheel {
  digest: string;
  /**
   * Directory of its file, and of nothing else, for as long as the set is being installed; absent: it was stored
   * already.
   */
  directory?: string;
  file: string;
  url?: string;
}

export interface DependencyOptions {
  store: DirectoryStore;
  runTool: ToolRunner;
  egress: EgressProxy;
  index: PackageIndex;
  pythonVersion: string;
  /** The directory that contains the package `pip`; null if this interpreter has none. */
  pipPath: string | null;
  uv: () => Promise<Uv | null>;
}

export type OnProgress = (progress: InstallationProgress) => void;

/** Requirements to resolve, or the packages of a lock. */
export type RequestedSet = { requirements: string[] } | { locked: LockedPackage[] };

/**
 * @returns a function that installs a set into a directory and returns its packages, or throws a DependencyError
 */
export function createDependencySetInstaller(options: DependencyOptions) {
  const wheels = createWheelStore(options);

  return async (requested: RequestedSet, directory: string, onProgress: OnProgress): Promise<LockedPackage[]> => {
    const scratch = fs.mkdtempSync(path.join(directory, SCRATCH));
    fs.chmodSync(scratch, 0o755);
    const tools = await createSetTools(options, scratch);
    try {
      const found = await ensureWheels(tools, requested, onProgress);
      const installWheel = (wheel: Wheel) => async (target: string) =>
        tools.install(wheel.directory ? wheel : await refetchWheel(tools, wheel), target);
      let done = 0;
      const reportInstalled = () => onProgress({ phase: 'installing', done, total: found.length });
      reportInstalled();
      await forEachConcurrently(found, CONCURRENT_INSTALLS_MAX, async (wheel) => {
        await wheels.prepare(wheel.digest, installWheel(wheel));
        done++;
        reportInstalled();
      });
      for (const wheel of found) await wheels.linkInto(directory, wheel.digest, installWheel(wheel));
      await fs.promises.rm(scratch, { recursive: true });
      return found.map(toLockedPackage);
    } catch (err) {
      throw err instanceof ToolError ? await toDependencyError(err, requested, options.index) : err;
    }
  };

  function ensureWheels(tools: SetTools, requested: RequestedSet, onProgress: OnProgress): Promise<Wheel[]> {
    if ('locked' in requested) return ensureLockedWheels(tools, requested.locked);
    onProgress({ phase: 'resolving', done: null, total: null });
    const { requirements } = requested;
    return withFallback(
      tools,
      async () => fetchMissing(tools, await tools.resolve(requirements), onProgress),
      () => tools.download(requirements),
    );
  }

  async function fetchMissing(tools: SetTools, resolved: ResolvedWheel[], onProgress: OnProgress): Promise<Wheel[]> {
    const missing = new Set(resolved.filter(({ sha256 }) => !sha256 || !wheels.has(sha256)));
    if (missing.size) {
      onProgress({ phase: 'downloading', done: resolved.length - missing.size, total: resolved.length });
    }
    const fetched = missing.size ? await tools.fetch([...missing]) : [];
    const stored = resolved.filter((wheel) => !missing.has(wheel));
    const all = [...fetched, ...stored.map(({ file, url, sha256 }) => ({ file, url, digest: sha256 as string }))];
    return all.sort((a, b) => (a.file < b.file ? -1 : 1));
  }

  /**
   * Uses stored wheels without asking the index.
   * @throws DependencyError if it has another file for one of the others
   */
  async function ensureLockedWheels(tools: SetTools, locked: LockedPackage[]): Promise<Wheel[]> {
    const missing = locked.filter(({ sha256 }) => !wheels.has(sha256));
    const fetched = new Map(
      (missing.length ? await fetchLocked(tools, missing) : []).map((wheel) => [wheel.digest, wheel]),
    );
    const changed = missing.find(({ sha256 }) => !fetched.has(sha256));
    if (changed) {
      const { file, sha256 } = changed;
      throw new DependencyError(
        `The package index has no file for ${toExactRequirement(changed)} that works on this machine, or the file there is not the one that this version of the code is locked to (${file}, sha256 ${sha256}). Declare a different version of the package.`,
      );
    }
    return locked.map(({ file, sha256 }) => fetched.get(sha256) ?? { file, digest: sha256 });
  }

  function fetchLocked(tools: SetTools, locked: LockedPackage[]): Promise<Wheel[]> {
    const requirements = locked.map(toExactRequirement);
    const digests = locked.map(({ sha256 }) => sha256);
    return withFallback(
      tools,
      async () => tools.fetch(await tools.resolve(requirements, digests)),
      () => tools.download(requirements, digests),
    );
  }

  /** Downloads a wheel that was stored when the set was resolved, and is no longer. */
  async function refetchWheel(tools: SetTools, wheel: Wheel): Promise<Wheel> {
    const { file, url, digest } = wheel;
    const [again] = url
      ? await tools.fetch([{ file, url, sha256: digest }])
      : await ensureLockedWheels(tools, [toLockedPackage(wheel)]);
    if (!again?.directory) throw new Error(`${file} is not available`);
    return again;
  }

  /** Uses uv, and falls back to pip, whose errors are the ones that are explained. */
  async function withFallback<T>(tools: SetTools, byUv: () => Promise<T>, byPip: () => Promise<T>): Promise<T> {
    if (!tools.hasUv) return byPip();
    try {
      return await byUv();
    } catch (err) {
      if (!options.pipPath || !(err instanceof ToolError) || err.reason === 'timeout') throw err;
      return byPip();
    }
  }
}

const toExactRequirement = ({ name, version }: LockedPackage): string => `${name}==${version}`;

/** Reads the name of a wheel: both parts are escaped in it, and contain no dash. */
function toLockedPackage({ file, digest }: Wheel): LockedPackage {
  const [name = '', version = ''] = file.split('-');
  return { name: normalizeName(name), version, file, sha256: digest };
}

type SetTools = Awaited<ReturnType<typeof createSetTools>>;

/** The sandboxed tools with which one set is installed. */
async function createSetTools({ runTool, egress, index, pipPath, ...options }: DependencyOptions, scratch: string) {
  const uv = await options.uv();
  if (!uv && !pipPath) {
    throw new DependencyError(
      'This executor has neither uv nor pip: install pip for its Python interpreter (python3-pip).',
    );
  }
  const deadline = Date.now() + INSTALL_TIMEOUT_MS;
  const origins = listIndexOrigins(index);
  const cert = index.indexUrl ? ['--cert', '/etc/ssl/certs/ca-certificates.crt'] : [];
  const createToolDirectory = () => {
    const created = fs.mkdtempSync(path.join(scratch, 'tool-'));
    fs.chmodSync(created, 0o755);
    return created;
  };

  const runWithUv = (request: ToolRequest, usesUv: boolean) => runTool(uv && usesUv ? withUv(uv, request) : request);

  /** Runs a tool that reaches the index, in a directory of its own. @returns that directory */
  async function runOnline(config: ToolRequest['config'], usesUv: boolean): Promise<string> {
    const pass = origins.length ? egress.admit({ bytesMax: DOWNLOAD_BYTES_MAX, origins }) : undefined;
    const workDir = createToolDirectory();
    const timeoutMs = Math.max(1, deadline - Date.now());
    const request = { config: { pipPath, ...config }, workDir, readOnly: listIndexDirectories(index), timeoutMs };
    try {
      await runWithUv({ ...request, ...(pass && { egressNonce: pass.nonce }) }, usesUv);
    } finally {
      pass?.revoke();
    }
    return workDir;
  }

  /** Moves a downloaded wheel into a directory of its own, and computes its digest. */
  async function moveWheel(file: string, from: string): Promise<Wheel> {
    const source = path.join(from, file);
    if (!fs.lstatSync(source, { throwIfNoEntry: false })?.isFile()) {
      throw new DependencyError(`${file} was not downloaded.`);
    }
    const directory = createToolDirectory();
    fs.renameSync(source, path.join(directory, file));
    return { digest: await computeFileDigest(path.join(directory, file)), directory, file };
  }

  async function fetchWheels(wheels: ResolvedWheel[]): Promise<Wheel[]> {
    const fetchRequests = wheels.map(({ url, file }) => ({
      url,
      file,
      basic: findIndexCredentials(index, new URL(url)),
    }));
    const directory = await runOnline({ tool: 'fetch', wheels: fetchRequests }, false);
    const fetched: Wheel[] = [];
    for (const { file, url, sha256 } of wheels) {
      const wheel = { ...(await moveWheel(file, directory)), url };
      if (sha256 && wheel.digest !== sha256) {
        throw new DependencyError(`${file} does not match its digest in the package index.`);
      }
      fetched.push(wheel);
    }
    return fetched;
  }

  return {
    hasUv: uv !== null,

    /** @param locked digests of the requirements' wheels, if they are known: nothing else is resolved then */
    async resolve(requirements: string[], locked: string[] = []): Promise<ResolvedWheel[]> {
      const options = [...buildIndexOptions(index), ...BEST_OF_ALL_INDEXES, ...buildLockOptions(locked)];
      const config = { tool: 'resolve', requirements, locked, options };
      const directory = await runOnline(config, true);
      return readResolvedWheels(path.join(directory, 'wheels.json'));
    },

    fetch: fetchWheels,

    async download(requirements: string[], locked: string[] = []): Promise<Wheel[]> {
      const options = [...buildIndexOptions(index), ...cert, ...buildLockOptions(locked)];
      const config = { tool: 'download', requirements, locked, options };
      const directory = await runOnline(config, false);
      const found: Wheel[] = [];
      for (const file of fs.readdirSync(directory).sort()) {
        if (WHEEL_FILE.test(file)) found.push(await moveWheel(file, directory));
      }
      return found;
    },

    /** Installs one wheel in a sandbox that sees nothing else. */
    async install({ directory = '', file }: Wheel, target: string): Promise<void> {
      const config = { tool: 'install', pipPath, wheel: path.join(directory, file) };
      await runWithUv({ config, workDir: target, readOnly: [directory], timeoutMs: INSTALL_TIMEOUT_MS }, true);
    },
  };
}

const buildLockOptions = (locked: string[]): string[] => (locked.length ? ['--no-deps'] : []);

function readResolvedWheels(file: string): ResolvedWheel[] {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > RESOLVED_BYTES_MAX) {
    throw new ToolError('failed', 'the list of wheels is missing or too long');
  }
  try {
    return resolvedWheelsSchema.parse(parseUntrusted(fs.readFileSync(file)));
  } catch (err) {
    throw new ToolError('failed', `the list of wheels cannot be read: ${(err as Error).message}`);
  }
}

async function toDependencyError(failure: ToolError, requested: RequestedSet, index: PackageIndex) {
  const requirements = 'locked' in requested ? requested.locked.map(toExactRequirement) : requested.requirements;
  const message =
    failure.reason === 'timeout'
      ? `Installing ${requirements.join(', ')} took longer than ${INSTALL_TIMEOUT_MS / 1000} s.`
      : await explainFailure(failure.output, requirements, index);
  return new DependencyError(message);
}
