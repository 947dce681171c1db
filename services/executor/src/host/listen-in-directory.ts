import fs from 'node:fs';
import type net from 'node:net';

/**
 * Listens on a socket in a directory, bound through a file descriptor: /proc/net/unix of a client's network shows the
 * name with which its server was bound, and a run must not learn paths of this machine.
 */
export async function listenInDirectory(server: net.Server, directory: string, name: string): Promise<void> {
  const descriptor = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  // Not earlier: closing the server removes the socket under that name.
  server.once('close', () => fs.closeSync(descriptor));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (err) => {
      fs.closeSync(descriptor);
      reject(err);
    });
    server.listen(`/proc/self/fd/${descriptor}/${name}`, resolve);
  });
}
