import path from 'node:path';
import { createTemporaryDir, reserveFreePort, setupResource } from '@gantry/testing';
import { buildPostgresSpec, type PostgresOptions } from '../postgres/postgres';
import { startAndWait } from '../supervise/process';

/** Starts a PostgreSQL of its own before the tests of this file, as `npm start` does. */
export const setupPostgres = (password: string) =>
  setupResource(
    async () => {
      const dataDir = path.join(createTemporaryDir('postgres'), 'private', 'data');
      const options: PostgresOptions = { dataDir, port: await reserveFreePort(), password };
      const start = async () => startAndWait(await buildPostgresSpec(options));
      const server = {
        options,
        process: await start(),
        restart: async () => {
          server.process = await start();
        },
      };
      return server;
    },
    (server) => server.process.stop(),
  );
