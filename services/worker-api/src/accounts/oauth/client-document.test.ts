/** Clients that name themselves by the address of a document about them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCaller } from '../../test/caller';
import { startTestWorkerApi, type TestWorkerApi } from '../../test/test-worker-api';

let server: Server;
let api: TestWorkerApi;
let origin: string;
let asked = 0;
let document: (clientId: string) => unknown;

beforeAll(async () => {
  server = createServer((req, res) => {
    asked++;
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify(document(`${origin}${req.url}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api = await startTestWorkerApi({ outboundAllow: [origin.replace('http://', '')] });
});
afterAll(async () => {
  await api.stop();
  server.closeAllConnections();
  server.close();
});

const redirect_uri = 'https://agent.example/callback';
const buildDocument = (client_id: string) => ({
  client_id,
  client_name: 'Agent\u202e\n of old',
  redirect_uris: [redirect_uri],
});

const getClient = (client_id: string, by = api.owner.jwt) =>
  createCaller(api.url, by).post('/auth/oauth/authorization/lookup', {
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'mcp:read',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
  });

test('its host is its identity, its name is plain text, and it is not fetched at every view', async () => {
  document = buildDocument;
  const before = asked;
  const { body } = await getClient(`${origin}/agent.json`).expect(200);
  expect(body).toMatchObject({
    client: { name: 'Agent of old', host: new URL(origin).host, known_by: 'document' },
    opens: 'website',
    redirect_host: 'agent.example',
    readonly: true,
    refused: null,
  });
  await getClient(`${origin}/agent.json`).expect(200);
  expect(asked).toBe(before + 1);
});

test.each([
  ['of another client', () => buildDocument('https://another.example/client.json')],
  ['with a secret', (id: string) => ({ ...buildDocument(id), client_secret: 'x' })],
  ['with a key of its own', (id: string) => ({ ...buildDocument(id), token_endpoint_auth_method: 'private_key_jwt' })],
  ['without addresses', (client_id: string) => ({ client_id })],
  ['that is a list', () => []],
  ['over the size limit', (id: string) => ({ ...buildDocument(id), more: 'x'.repeat(40_000) })],
])('a document %s is refused', async (what, given: (id: string) => unknown) => {
  document = given;
  const refused = await getClient(`${origin}/${encodeURIComponent(what)}.json`).expect(400);
  expect(refused.body.code).toBe('unknown_client');
});

test.each([
  'http://169.254.169.254/latest',
  'https://localhost/client',
  'http://example.com/client',
  'https://127.0.0.1/x',
])('nothing is fetched from %s', async (clientId) =>
  expect((await getClient(clientId).expect(400)).body.code).toBe('unknown_client'),
);

test('only a signed-in user causes a document to be fetched', async () => {
  const before = asked;
  const { token } = await api.createToken('personal', api.owner.jwt);
  await getClient(`${origin}/by-token.json`, token).expect(403);
  expect(asked).toBe(before);
});
