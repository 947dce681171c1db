/** Real pip in a real sandbox, on wheels made here: no package index of the world is asked. */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseRequirement } from './dependencies';
import type { PackageIndex } from './package-index';
import { type ExecutorFixture, startTestExecutor } from './test/executor-fixture';
import { zipOf } from './test/zip-fixture';

async function wheel(directory: string, name: string, version: string, source: string): Promise<string> {
  const info = `${name}-${version}.dist-info`;
  const file = path.join(directory, `${name}-${version}-py3-none-any.whl`);
  const bytes = await zipOf({
    [`${name}.py`]: source,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: '',
  });
  fs.writeFileSync(file, bytes);
  return file;
}

function directory(): string {
  const made = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? '/tmp', 'wheels-'));
  fs.chmodSync(made, 0o755);
  return made;
}

const NOWHERE: PackageIndex = { indexUrl: null, extraIndexUrls: [], findLinks: [], fileHosts: [] };

describe('from a directory of wheels', () => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    const wheels = directory();
    await wheel(wheels, 'gantrytestlib', '1.2.0', 'VALUE = "installed"\n');
    fs.writeFileSync(path.join(wheels, 'onlysource-1.0.tar.gz'), 'x');
    fixture = await startTestExecutor({ packageIndex: { ...NOWHERE, findLinks: [wheels] } });
  });
  afterAll(() => fixture.stop());

  const source =
    'import gantrytestlib, os\ndef run(): return [gantrytestlib.VALUE, gantrytestlib.__file__, os.access("/deps", os.W_OK)]';
  const failure = async (dependency: string) =>
    (await fixture.service.run('def run(): pass', { dependencies: [dependency] })).finished.error;

  test('they are installed once, said to be, and then only mounted', async () => {
    const first = await fixture.service.run(source, { dependencies: ['gantrytestlib>=1'] });
    expect(first.finished).toMatchObject({
      status: 'completed',
      output: ['installed', '/deps/gantrytestlib.py', false],
    });
    expect(first.log).toEqual([
      'Installing dependencies...',
      expect.stringMatching(/^Dependencies installed in [\d.]+ s\.$/),
    ]);
    expect(first.events.map(({ type }) => type)).toEqual(['log', 'log', 'started', 'finished']);
    const second = await fixture.service.run(source, { dependencies: ['gantrytestlib>=1'] });
    expect(second.log).toEqual([]);
    expect(second.finished.output).toEqual(first.finished.output);
  });

  test('runs that need the same set at the same time wait for one installation', async () => {
    const code = await fixture.service.code(source);
    const ids = [1, 2].map(() => fixture.service.queue(code, { dependencies: ['gantrytestlib==1.2.0'] }));
    const ends = await Promise.all(ids.map((id) => fixture.service.finished(id)));
    for (const { finished } of ends) expect(finished.status).toBe('completed');
  });

  test.each([
    ['gantrytestlb', /^There is no package called gantrytestlb/],
    ['gantrytestlib>=2', /^There is no version of gantrytestlib.*Available: 1\.2\.0/],
    ['onlysource', /only as a source distribution/],
  ])('%s can’t be had, and the reason is told', async (dependency, message) => {
    expect(await failure(dependency)).toMatchObject({
      code: 'dependency_install',
      message: expect.stringMatching(message),
    });
  });

  test('time spent installing is not the run’s time', async () => {
    const { finished } = await fixture.service.run(source, {
      dependencies: ['gantrytestlib~=1.2'],
      limits: { wallMs: 400 },
    });
    expect(finished.status).toBe('completed');
  });
});

describe('from an index', () => {
  test('only the index is reachable for pip, through the egress proxy', async () => {
    const wheels = directory();
    const file = await wheel(wheels, 'gantryindexed', '1.0', 'VALUE = "from the index"\n');
    const asked: string[] = [];
    const index = http.createServer((req, res) => {
      asked.push(req.url ?? '');
      const name = path.basename(file);
      if (req.url === '/simple/gantryindexed/')
        res.setHeader('content-type', 'text/html').end(`<a href="/files/${name}">${name}</a>`);
      else if (req.url === `/files/${name}`) res.end(fs.readFileSync(file));
      else res.writeHead(404).end();
    });
    await new Promise<void>((resolve) => index.listen(0, '127.0.0.2', resolve));
    const indexUrl = `http://127.0.0.2:${(index.address() as AddressInfo).port}/simple`;
    const fixture = await startTestExecutor({ packageIndex: { ...NOWHERE, indexUrl } });
    const { finished } = await fixture.service.run('import gantryindexed\ndef run(): return gantryindexed.VALUE', {
      dependencies: ['gantryindexed'],
    });
    expect(finished).toMatchObject({ status: 'completed', output: 'from the index' });
    expect(asked).toContain('/simple/gantryindexed/');
    const typo = await fixture.service.run('def run(): pass', { dependencies: ['gantryindxed'] });
    expect(typo.finished.error?.message).toMatch(/no package called gantryindxed/);
    index.closeAllConnections();
    await new Promise((resolve) => index.close(resolve));
    const down = await fixture.service.run('def run(): pass', { dependencies: ['gantryother'] });
    expect(down.finished.error?.message).toMatch(/package index http:\/\/127.0.0.2:\d+\/simple can't be reached/);
    await fixture.stop();
  }, 60_000);
});

test.each(['requests', 'requests>=2.31,<3', 'a.b-c_d == 1.0', 'httpx[http2]~=0.27', 'x; python_version < "3.12"'])(
  '%j is a dependency',
  (text) => {
    expect(parseRequirement(text)).toBe(text);
  },
);

test.each([
  '--index-url=http://evil',
  '-r /etc/passwd',
  'requests @ https://evil/x.whl',
  'git+https://evil/x',
  './local',
  '/abs/path',
  'file:///etc',
  'a b',
  '',
  'x --hash=1',
  'x==1 --pre',
  'x\n-e .',
  '../x',
  'x.whl @ file:/x',
])('%j is refused', (text) => {
  expect(() => parseRequirement(text)).toThrow(/is not a dependency/);
});
