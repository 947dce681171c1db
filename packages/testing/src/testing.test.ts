import { connect, credsAuthenticator } from 'nats';
import { Client } from 'pg';
import { createDatabase, startTestNats, terminateConnections, waitUntil } from './index';

test('two clones of one template are isolated from each other', async () => {
  const [one, two] = await Promise.all([createDatabase('skills-api'), createDatabase('skills-api')]);
  const client = new Client({ connectionString: one.url });
  await client.connect();
  await client.query('CREATE TABLE only_here (id int)');
  await client.end();
  const other = new Client({ connectionString: two.url });
  await other.connect();
  await expect(other.query('SELECT * FROM only_here')).rejects.toThrow('does not exist');
  await other.end();
  await Promise.all([one.drop(), two.drop()]);
  await expect(new Client({ connectionString: one.url }).connect()).rejects.toThrow('does not exist');
});

test('cutting connections ends those of that database only', async () => {
  const [cut, kept] = await Promise.all([createDatabase('empty'), createDatabase('empty')]);
  const clients = [cut, kept].map(({ url }) => new Client({ connectionString: url }));
  let ended = 0;
  for (const client of clients) {
    client.on('error', () => {});
    client.on('end', () => ended++);
    await client.connect();
  }
  await terminateConnections(cut);
  await waitUntil(() => ended === 1);
  await expect(clients[1]?.query('SELECT 1')).resolves.toBeDefined();
  await clients[1]?.end();
});

test('a client of a killed NATS server reconnects to the restarted one', async () => {
  const nats = await startTestNats();
  const authenticator = credsAuthenticator(Buffer.from(nats.spectator.creds ?? ''));
  const nc = await connect({ servers: new URL(nats.url).host, authenticator, reconnectTimeWait: 20 });
  await nats.kill();
  await nats.restart();
  await waitUntil(() => nc.flush().then(() => true));
  await nc.close();
  await nats.stop();
});

test('until reports what it waited for and the last error', async () => {
  const failing = waitUntil(() => Promise.reject(new Error('not there')), { deadlineMs: 30, what: 'the moon' });
  await expect(failing).rejects.toMatchObject({
    message: expect.stringContaining('the moon'),
    cause: { message: 'not there' },
  });
});
