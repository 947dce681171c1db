/** A PostgreSQL of our own: initialised on first use, tuned small, never trusting. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { getSharedDir } from '../dirs/shared-dir';
import { isAlive, listProcesses, type ProcessSpec, readWorkingDir, signalProcess } from '../supervise/process';
import { findPostgresBinaries } from './postgres-binaries';
import { initialiseCluster } from './postgres-init';

export interface PostgresOptions {
  dataDir: string;
  port: number;
  password: string;
  /** False only for disposable data: tests. */
  durable?: boolean;
}

/** In no passwd file, so that its files belong to no other user; the executor's runs have another one. */
const POSTGRES_UID = 60_905;
const USER = 'gantry';

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  // Resident memory counts more here than a large cache: the operating system caches the files once more.
  shared_buffers: '64MB',
  work_mem: '8MB',
  jit: 'off',
  huge_pages: 'off',
  // Backends read for themselves: three processes fewer.
  io_method: 'sync',
  max_worker_processes: '2',
  max_logical_replication_workers: '0',
  max_parallel_workers_per_gather: '0',
  autovacuum_worker_slots: '2',
  autovacuum_max_workers: '2',
  // No standby reads this log: it holds only what a crash needs.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  log_checkpoints: 'off',
};

const nonDurableSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export function buildPostgresUrl(options: { port: number; password: string }, database: string): string {
  return `postgresql://${USER}:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/${database}`;
}

/** Initialises `dataDir` if it is empty, and says how to start a server on it. */
export async function buildPostgresSpec(options: PostgresOptions): Promise<ProcessSpec> {
  const { dataDir, port, password, durable = true } = options;
  const owner = process.getuid?.() === 0 ? POSTGRES_UID : undefined;
  const binaries = await findPostgresBinaries(owner === undefined ? undefined : getSharedDir());
  if (!fs.existsSync(path.join(dataDir, 'PG_VERSION'))) {
    await initialiseCluster({ initdb: binaries.initdb, dataDir, user: USER, password, owner });
  }
  const config = { ...settings, ...(durable ? {} : nonDurableSettings), port: String(port) };
  return {
    name: 'postgres',
    command: binaries.postgres,
    // The working directory is set before the user is changed; this link leads the dropped user to its data although it
    // may not walk through the 0700 directories above.
    args: ['-D', owner === undefined ? dataDir : '/proc/self/cwd'].concat(
      Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ),
    cwd: dataDir,
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH ?? '' },
    uid: owner,
    gid: owner,
    // Fast shutdown: ends sessions and writes a checkpoint.
    stopSignal: 'SIGINT',
    prepare: () => stopOrphanedServer(dataDir),
    isReady: () => isAcceptingClients(port),
    isAlarming: (line) => /\b(FATAL|PANIC):/.test(line) && !line.includes('the database system is'),
  };
}

/** Protocol 3.0, user and database, as the first message of a connection. */
const STARTUP_MESSAGE = Buffer.from(`\0\0\0\0\0\x03\0\0user\0${USER}\0database\0postgres\0\0`, 'latin1');
STARTUP_MESSAGE.writeInt32BE(STARTUP_MESSAGE.length);

/** A server that recovers answers with an error (E), a ready one asks for the password (R). */
function isAcceptingClients(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port }, () => socket.write(STARTUP_MESSAGE));
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once('error', () => end(false));
    socket.once('data', (data) => end(data[0] === 'R'.charCodeAt(0)));
  });
}

const LEFTOVER_STOP_MS = 5_000;

/**
 * Stops a server that outlived its launcher, and its sessions: they outlive a server that was killed for as long as
 * they are busy, and hold the shared memory without which the next one refuses to start. A pid file whose number now
 * belongs to something else is removed: PostgreSQL would take that process for a server and refuse to start as well.
 */
async function stopOrphanedServer(dataDir: string): Promise<void> {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  if (!fs.existsSync(pidFile)) return;
  const server = Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
  const listOrphanedProcesses = () => listServerProcesses(server, dataDir);
  if (listOrphanedProcesses().includes(server)) signalProcess(server, 'SIGINT');
  const deadline = Date.now() + LEFTOVER_STOP_MS;
  for (let left = listOrphanedProcesses(); left.length; left = listOrphanedProcesses()) {
    if (Date.now() > deadline) for (const pid of left) signalProcess(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  fs.rmSync(pidFile, { force: true });
}

/**
 * Processes of the server at `dataDir`, which is their working directory. Without /proc: the server, if its number is
 * in use.
 */
function listServerProcesses(server: number, dataDir: string): number[] {
  if (!fs.existsSync('/proc/self')) return server && isAlive(server) ? [server] : [];
  const dir = fs.realpathSync(dataDir);
  return listProcesses().filter((pid) => readWorkingDir(pid) === dir);
}
