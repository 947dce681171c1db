/** Which process holds a TCP port, read from /proc: no tool has to be there for it. */
import fs from 'node:fs';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENING = '0A';

/**
 * @returns such as `nginx (process 4711)`, or the user of a process that may not be looked at; undefined if the system
 *   does not tell, as outside of Linux
 */
export function describePortHolder(port: number): string | undefined {
  const sockets = TABLES.flatMap((table) => listSockets(table, port));
  const socket = sockets.find(({ state }) => state === LISTENING) ?? sockets[0];
  if (!socket) return undefined;
  const pid = findProcess(socket.inode);
  return pid ? `${readName(pid)} (process ${pid})` : `a process owned by user ${socket.uid}`;
}

function listSockets(table: string, port: number) {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readText(table)
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, , state, , , , uid, , inode] = line.trim().split(/\s+/);
      return local?.endsWith(suffix) ? [{ state, uid, inode }] : [];
    });
}

function findProcess(inode: string | undefined): string | undefined {
  const link = `socket:[${inode}]`;
  return listDir('/proc').find(
    (pid) => /^\d+$/.test(pid) && listDir(`/proc/${pid}/fd`).some((fd) => readLink(`/proc/${pid}/fd/${fd}`) === link),
  );
}

const readName = (pid: string): string => readText(`/proc/${pid}/comm`).trim() || 'another program';

// A process may end while it is looked at, and those of other users show nothing.
const readText = (file: string): string => readOrDefault('', () => fs.readFileSync(file, 'utf8'));
const listDir = (dir: string): string[] => readOrDefault([], () => fs.readdirSync(dir));
const readLink = (file: string): string => readOrDefault('', () => fs.readlinkSync(file));

function readOrDefault<T>(missing: T, read: () => T): T {
  try {
    return read();
  } catch {
    return missing;
  }
}
