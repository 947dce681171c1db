import net from 'node:net';
import { reserveFreePort } from '@gantry/testing';
import { requireFreePorts } from './require-free-ports';

const host = '127.0.0.1';

test('a port in use is named with its program, and with the setting that changes it', async () => {
  const [held, free] = [await reserveFreePort(), await reserveFreePort()];
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(held, '::', resolve));
  try {
    const refused = requireFreePorts([
      { port: held, host, name: 'PostgreSQL' },
      { port: free, host, name: 'NATS' },
    ]);
    const holder = String.raw`held by \S.* \(process ${process.pid}\)`;
    const expected = `^these ports cannot be used: ${held} \\(PostgreSQL\\): ${holder}\\. Choose other ports with `;
    await expect(refused).rejects.toThrow(new RegExp(expected));
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  await requireFreePorts([{ port: held, host, name: 'PostgreSQL' }]);
});
