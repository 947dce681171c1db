import { isPostgresDown } from '@gantry/postgres';
import { captureLogs, catchError, setupFreezableDatabase, setupResource } from '@gantry/testing';
import { openDatabase } from './database';

const server = setupFreezableDatabase('skills-api');
const database = setupResource(
  () => openDatabase(server.url, captureLogs('silent').log, { max: 1, responseTimeoutMs: 300 }),
  (opened) => opened.close(),
);

test('Prisma gives up a query to a frozen PostgreSQL like one to a server that is down', async () => {
  expect(await database.prisma.skill.count()).toBe(0);
  server.freeze();
  expect(isPostgresDown(await catchError(database.prisma.skill.count()))).toBe(true);
  server.thaw();
  expect(await database.prisma.skill.count()).toBe(0);
});

test('a transaction of Prisma leaves no open transaction to the next user of the connection', async () => {
  const { prisma } = database;
  const ended = prisma.$transaction(async (tx) => {
    await tx.person.create({ data: { userId: 'usr_1', name: 'Ada' } });
    server.freeze();
    await tx.skill.count();
  });
  expect(isPostgresDown(await catchError(ended))).toBe(true);
  server.thaw();
  expect(await prisma.person.count({ where: { userId: 'usr_1' } })).toBe(0);
  await prisma.person.create({ data: { userId: 'usr_1', name: 'Ada' } });
});
