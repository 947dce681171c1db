/** Real pip and uv in a real sandbox, on wheels built here: no public package index is contacted. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { computeLockDigest, type LockedPackage } from '@gantry/events';
import { createZip, findTestUv, writeWheel } from '@gantry/testing';
import { findInterpreter } from '../runners/python/interpreter';
import { type ExecutorFixture, startTestExecutor } from '../test/executor-fixture';
import { createTemporaryLayout } from '../test/sandbox-fixture';
import type { PackageIndex } from './package-index';
import { parseRequirement } from './requirement';

/** Builds a source package whose build calls `url`, which reveals that it was executed. */
function buildSourcePackage(name: string, url: string): Promise<Buffer> {
  return createZip({
    [`${name}-1.0/PKG-INFO`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${name}-1.0/setup.py`]: `
import urllib.request
urllib.request.urlopen("${url}").read()
from setuptools import setup
setup(name="${name}", version="1.0")
`,
  });
}

function createDirectory(): string {
  const made = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? '/tmp', 'wheels-'));
  fs.chmodSync(made, 0o755);
  return made;
}

const listen = (server: http.Server, host: string) => new Promise<void>((resolve) => server.listen(0, host, resolve));
const getPort = (server: http.Server) => (server.address() as AddressInfo).port;

const NOWHERE: PackageIndex = { indexUrl: null, extraIndexUrls: [], findLinks: [], fileHosts: [] };

/** The installers that this machine has. */
const uvProgram = findTestUv();
const installers: [string, string | null][] = [
  ['pip', null],
  ...(uvProgram ? [['uv', uvProgram] as [string, string]] : []),
];

describe.each(installers)('%s', (_, uv) => {
  // No pip to fall back to: uv itself must work.
  const interpreter = { ...findInterpreter(), ...(uv && { pipPath: null }) };

  describe('from a directory of wheels', () => {
    let fixture: ExecutorFixture;
    beforeAll(async () => {
      const wheels = createDirectory();
      await writeWheel(wheels, { name: 'gantrytestlib', version: '1.2.0', source: 'VALUE = "installed"\n' });
      fs.writeFileSync(path.join(wheels, 'onlysource-1.0.tar.gz'), 'x');
      await writeWheel(wheels, { name: 'clash_a', source: '', files: { taken: 'a file', 'shared.py': 'VALUE = "a"' } });
      const more = { 'taken/inner.py': '', 'shared.py': 'VALUE = "b"' };
      await writeWheel(wheels, { name: 'clash_b', source: 'VALUE = "b"', files: more });
      fixture = await startTestExecutor({ uv, packageIndex: { ...NOWHERE, findLinks: [wheels] } });
    });
    afterAll(() => fixture.stop());

    const source =
      'import gantrytestlib, os\ndef run(): return [gantrytestlib.VALUE, gantrytestlib.__file__, os.access("/deps", os.W_OK)]';
    const runToError = async (dependency: string) =>
      (await fixture.service.run('def run(): pass', { dependencies: [dependency] })).finished.error;

    test('they are installed once, with log lines, and then only mounted', async () => {
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

    test('if two packages have the same file, the first one wins', async () => {
      const both =
        'import shared, clash_b, os\ndef run(): return [shared.VALUE, clash_b.VALUE, os.path.isfile("/deps/taken")]';
      const { finished } = await fixture.service.run(both, { dependencies: ['clash_a', 'clash_b'] });
      expect([finished.error?.message, finished.output]).toEqual([undefined, ['a', 'b', true]]);
    });

    test('runs that need the same set at the same time wait for one installation', async () => {
      const code = await fixture.service.uploadCode(source);
      const ids = [1, 2].map(() => fixture.service.enqueue(code, { dependencies: ['gantrytestlib==1.2.0'] }));
      const ends = await Promise.all(ids.map((id) => fixture.service.waitForFinished(id)));
      for (const { finished } of ends) expect(finished.status).toBe('completed');
    });

    test.each([
      ['gantrytestlb', /^There is no package called gantrytestlb/],
      ['gantrytestlib>=2', /^There is no version of gantrytestlib.*Available: 1\.2\.0/],
      ['onlysource', /only as a source distribution/],
    ])('%s is unavailable, and the error says why', async (dependency, message) => {
      expect(await runToError(dependency)).toMatchObject({
        code: 'dependency_install',
        message: expect.stringMatching(message),
      });
    });

    test('time spent installing does not count against the run', async () => {
      const { finished } = await fixture.service.run(source, {
        dependencies: ['gantrytestlib~=1.2'],
        limits: { wallMs: 400 },
      });
      expect(finished.status).toBe('completed');
    });
  });

  describe('from an index', () => {
    test('only the index is reachable for pip, through the egress proxy', async () => {
      const wheels = createDirectory();
      const file = await writeWheel(wheels, { name: 'gantryindexed', source: 'VALUE = "from the index"\n' });
      const requests: string[] = [];
      const index = http.createServer((req, res) => {
        requests.push(req.url ?? '');
        const name = path.basename(file);
        if (req.url === '/simple/gantryindexed/')
          res.setHeader('content-type', 'text/html').end(`<a href="/files/${name}">${name}</a>`);
        else if (req.url === `/files/${name}`) res.end(fs.readFileSync(file));
        else res.writeHead(404).end();
      });
      await new Promise<void>((resolve) => index.listen(0, '127.0.0.2', resolve));
      const indexUrl = `http://127.0.0.2:${(index.address() as AddressInfo).port}/simple`;
      const fixture = await startTestExecutor({ uv, packageIndex: { ...NOWHERE, indexUrl } });
      const { finished } = await fixture.service.run('import gantryindexed\ndef run(): return gantryindexed.VALUE', {
        dependencies: ['gantryindexed'],
      });
      expect(finished).toMatchObject({ status: 'completed', output: 'from the index' });
      expect(requests).toContain('/simple/gantryindexed/');
      const misspelt = await fixture.service.run('def run(): pass', { dependencies: ['gantryindxed'] });
      expect(misspelt.finished.error?.message).toMatch(/no package called gantryindxed/);
      index.closeAllConnections();
      await new Promise((resolve) => index.close(resolve));
      const down = await fixture.service.run('def run(): pass', { dependencies: ['gantryother'] });
      expect(down.finished.error?.message).toMatch(/package index http:\/\/127.0.0.2:\d+ can't be reached/);
      await fixture.stop();
    });
  });

  describe('a wheel that names another archive', () => {
    let fixture: ExecutorFixture;
    const requests: string[] = [];
    const servers: http.Server[] = [];
    const files = new Map<string, Buffer>();
    let index: string;
    let elsewhere: string;

    beforeAll(async () => {
      const serve = async () => {
        const server = http.createServer((req, res) => {
          requests.push(`${req.headers.host}${req.url}`);
          const found = files.get(req.url ?? '');
          if (found) res.end(found);
          else res.writeHead(404).end();
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
        servers.push(server);
        return `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
      };
      index = await serve();
      elsewhere = await serve();
      const wheels = createDirectory();
      const evil = await buildSourcePackage('evil', `${index}/build-code-was-executed`);
      files.set('/evil-1.0.zip', evil);
      files.set(
        '/wheel/evil-1.0-py3-none-any.whl',
        fs.readFileSync(await writeWheel(createDirectory(), { name: 'evil', source: 'VALUE = 1' })),
      );
      fs.writeFileSync(path.join(wheels, 'named-1.0.zip'), evil);
      const requirements = {
        byindex: `evil @ ${index}/evil-1.0.zip`,
        byfile: `evil @ file://${wheels}/named-1.0.zip`,
        bygit: `evil @ git+${index}/evil.git`,
        byport: `evil @ ${elsewhere}/evil-1.0.zip`,
        byport2: `evil @ ${elsewhere}/wheel/evil-1.0-py3-none-any.whl`,
        bysource: 'named',
        extra: `evil @ ${index}/evil-1.0.zip ; extra == "dev"`,
      };
      for (const [name, requirement] of Object.entries(requirements)) {
        await writeWheel(wheels, { name, source: 'VALUE = "installed"', requires: [requirement] });
      }
      fixture = await startTestExecutor({
        uv,
        packageIndex: { ...NOWHERE, indexUrl: `${index}/simple`, findLinks: [wheels] },
      });
    });
    afterAll(async () => {
      await fixture.stop();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    });

    test.each([
      [
        'byindex',
        /dependency of byindex references an archive by URL \(evil at http:.*\/evil-1\.0\.zip\)\. Only wheels/,
      ],
      ['byfile', /dependency of byfile references an archive by URL \(.*named-1\.0\.zip\)\. Only wheels/],
      ['bygit', /dependency of bygit references an archive by URL \(evil at git\+http:.*evil\.git\)\. Only wheels/],
      ['byport', /dependency of byport references an archive by URL \(evil at http:.*evil-1\.0\.zip\)\. Only wheels/],
      ['byport2', /dependency of byport2 references an archive by URL \(evil at http:.*any\.whl\)\. Only wheels/],
      ['bysource', /named is available only as a source distribution/],
    ])('%s: nothing is built or fetched from elsewhere, and the error says why', async (name, message) => {
      const { finished } = await fixture.service.run('def run(): pass', { dependencies: [name] });
      expect(finished).toMatchObject({
        status: 'failed',
        error: { code: 'dependency_install', message: expect.stringMatching(message) },
      });
      expect(requests.filter((url) => url.includes('executed') || elsewhere.endsWith(url.split('/')[0] ?? ''))).toEqual(
        [],
      );
    });

    test('in an extra that is not requested has no effect', async () => {
      const { finished } = await fixture.service.run('import extra\ndef run(): return extra.VALUE', {
        dependencies: ['extra'],
      });
      expect([finished.error?.message, finished.output]).toEqual([undefined, 'installed']);
    });
  });

  test('credentials are sent to their index and not to a host that it redirects to', async () => {
    const wheels = createDirectory();
    const file = await writeWheel(wheels, { name: 'gantryprivate', source: 'VALUE = "private"\n' });
    const name = path.basename(file);
    const sentElsewhere: unknown[] = [];
    const elsewhere = http.createServer((req, res) => {
      sentElsewhere.push(req.headers.authorization);
      res.end(fs.readFileSync(file));
    });
    const index = http.createServer((req, res) => {
      if (req.headers.authorization !== `Basic ${Buffer.from('reader:p@ss').toString('base64')}`) {
        res.writeHead(401, { 'www-authenticate': 'Basic realm="index"' }).end();
      } else if (req.url === '/simple/gantryprivate/') {
        res.setHeader('content-type', 'text/html').end(`<a href="/files/${name}">${name}</a>`);
      } else if (req.url === `/files/${name}`) {
        res.writeHead(302, { location: `http://127.0.0.3:${getPort(elsewhere)}/${name}` }).end();
      } else res.writeHead(404).end();
    });
    await listen(index, '127.0.0.2');
    await listen(elsewhere, '127.0.0.3');
    const fixture = await startTestExecutor({
      uv,
      interpreter,
      packageIndex: {
        ...NOWHERE,
        indexUrl: `http://reader:p%40ss@127.0.0.2:${getPort(index)}/simple`,
        fileHosts: [`http://127.0.0.3:${getPort(elsewhere)}`],
      },
    });
    const { finished } = await fixture.service.run('import gantryprivate\ndef run(): return gantryprivate.VALUE', {
      dependencies: ['gantryprivate'],
    });
    expect([finished.error?.message, finished.output]).toEqual([undefined, 'private']);
    expect(new Set(sentElsewhere)).toEqual(new Set([undefined]));
    await fixture.stop();
    for (const server of [index, elsewhere]) {
      server.closeAllConnections();
      server.close();
    }
  });

  describe('stored wheels', () => {
    const requests: string[] = [];
    const listed = new Map<string, string>();
    const wheels = createDirectory();
    const layout = createTemporaryLayout();
    const server = http.createServer((req, res) => {
      requests.push(req.url ?? '');
      const name = /^\/simple\/(\w+)\/$/.exec(req.url ?? '')?.[1];
      const file = path.join(wheels, path.basename(req.url ?? ''));
      if (name && listed.has(name)) res.setHeader('content-type', 'text/html').end(listed.get(name));
      else if (req.url?.startsWith('/files/') && fs.existsSync(file)) res.end(fs.readFileSync(file));
      else res.writeHead(404).end();
    });
    let fixture: ExecutorFixture;

    /** @param digest that the index names; default: that of the wheel */
    async function publish(name: string, digest?: string) {
      const file = await writeWheel(wheels, { name, source: `VALUE = "${name}"\n` });
      const sha256 = digest ?? createHash('sha256').update(fs.readFileSync(file)).digest('hex');
      const address = `/files/${path.basename(file)}`;
      // Publishes its metadata beside it, or resolving would download the wheel itself.
      listed.set(name, `<a href="${address}#sha256=${sha256}" data-core-metadata="true">${path.basename(file)}</a>`);
      fs.writeFileSync(`${file}.metadata`, `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`);
      return address;
    }
    const runImport = async (name: string, dependencies: string[]) =>
      (await fixture.service.run(`import ${name}\ndef run(): return ${name}.VALUE`, { dependencies })).finished;

    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
      const indexUrl = `http://127.0.0.2:${(server.address() as AddressInfo).port}/simple`;
      fixture = await startTestExecutor({ uv, interpreter, layout, packageIndex: { ...NOWHERE, indexUrl } });
    });
    afterAll(async () => {
      await fixture.stop();
      server.closeAllConnections();
      server.close();
    });

    test('are reused in other sets, and are not downloaded again where uv knows their digests', async () => {
      const address = await publish('shared');
      await publish('other');
      expect(await runImport('shared', ['shared'])).toMatchObject({ output: 'shared' });
      expect(await runImport('shared', ['shared', 'other'])).toMatchObject({ output: 'shared' });
      expect(requests.filter((each) => each === address)).toHaveLength(uv ? 1 : 2);
    });

    test('are not used once one of their files is changed or another is added', async () => {
      await publish('victim');
      for (const name of ['first', 'second']) await publish(name);
      expect(await runImport('victim', ['victim'])).toMatchObject({ output: 'victim' });
      const kept = fs
        .readdirSync(path.join(layout.storeDir, 'by-digest'))
        .map((digest) => path.join(layout.storeDir, 'by-digest', digest, 'files'))
        .find((files) => fs.existsSync(path.join(files, 'victim.py'))) as string;
      fs.rmSync(path.join(kept, 'victim.py'));
      fs.writeFileSync(path.join(kept, 'victim.py'), 'VALUE = "poisoned"\n');
      fs.rmSync(path.join(kept, '__pycache__'), { recursive: true });
      expect(await runImport('victim', ['victim', 'first'])).toMatchObject({ output: 'victim' });
      fs.writeFileSync(path.join(kept, 'added.py'), 'VALUE = "poisoned"\n');
      expect((await runImport('added', ['victim', 'second'])).error).toMatchObject({ type: 'ModuleNotFoundError' });
    });

    test('exclude downloads whose digest differs from the one in the index', async () => {
      await publish('altered', '0'.repeat(64));
      const { status, error } = await runImport('altered', ['altered']);
      expect([status, error?.code, error?.message]).toEqual([
        'failed',
        'dependency_install',
        expect.stringMatching(/digest|hash/i),
      ]);
    });
  });
});

describe.each(installers)('locks, by %s', (_, uv) => {
  const interpreter = { ...findInterpreter(), ...(uv && { pipPath: null }) };
  const wheels = createDirectory();
  const listed = new Map<string, string[]>();
  const requests: string[] = [];
  const server = http.createServer((req, res) => {
    requests.push(req.url ?? '');
    const name = /^\/simple\/(\w+)\/$/.exec(req.url ?? '')?.[1];
    const file = path.join(wheels, path.basename(req.url ?? ''));
    if (name && listed.has(name)) res.setHeader('content-type', 'text/html').end(listed.get(name)?.join('\n'));
    else if (req.url?.startsWith('/files/') && fs.existsSync(file)) res.end(fs.readFileSync(file));
    else res.writeHead(404).end();
  });
  let indexUrl: string;

  async function publish(name: string, version: string, source = `VALUE = "${version}"\n`) {
    const file = await writeWheel(wheels, { name, version, source });
    const sha256 = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
    const link = `<a href="/files/${path.basename(file)}#sha256=${sha256}">${path.basename(file)}</a>`;
    listed.set(name, [...(listed.get(name) ?? []).filter((each) => !each.includes(path.basename(file))), link]);
    return { name, version, file: path.basename(file), sha256 };
  }
  const withExecutor = async (use: (fixture: ExecutorFixture) => Promise<void>, locks = new Map()) => {
    const fixture = await startTestExecutor({ uv, interpreter, packageIndex: { ...NOWHERE, indexUrl } });
    for (const [platform, packages] of locks) fixture.service.locks.set(platform, packages);
    try {
      await use(fixture);
    } finally {
      await fixture.stop();
    }
    return fixture.service.locks;
  };
  const run = ({ service }: ExecutorFixture, name: string, overrides: Parameters<typeof service.run>[1] = {}) =>
    service.run(`import ${name}\ndef run(): return ${name}.VALUE`, { dependencies: [name], locks: {}, ...overrides });
  const toDigests = (locks: Map<string, LockedPackage[]>) =>
    Object.fromEntries([...locks].map(([platform, packages]) => [platform, computeLockDigest(packages)]));

  beforeAll(async () => {
    await listen(server, '127.0.0.2');
    indexUrl = `http://127.0.0.2:${getPort(server)}/simple`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('the first run proposes its packages, and another executor installs them although newer ones exist', async () => {
    const first = await publish('locked', '1.0');
    const locks = await withExecutor(async (fixture) => {
      expect((await run(fixture, 'locked')).finished.output).toBe('1.0');
      const again = await run(fixture, 'locked', { locks: toDigests(fixture.service.locks) });
      expect([again.finished.output, again.log]).toEqual(['1.0', []]);
    });
    expect([...locks.values()]).toEqual([[first]]);
    await publish('locked', '2.0');
    await withExecutor(async (fixture) => {
      expect((await run(fixture, 'locked', { locks: toDigests(locks) })).finished.output).toBe('1.0');
      const unlocked = await run(fixture, 'locked', { locks: undefined });
      expect(unlocked.finished.output).toBe('2.0');
    }, locks);
    expect([...locks.values()]).toEqual([[first]]);
  });

  test('an executor that resolves something else than an earlier proposal installs the earlier one', async () => {
    await publish('raced', '1.0');
    const locks = await withExecutor(async (fixture) => {
      await run(fixture, 'raced');
    });
    await publish('raced', '2.0');
    await withExecutor(async (fixture) => {
      expect((await run(fixture, 'raced')).finished.output).toBe('1.0');
    }, locks);
  });

  test('another file under the same version is an error that names the package', async () => {
    await publish('swapped', '1.0');
    const locks = await withExecutor(async (fixture) => {
      await run(fixture, 'swapped');
    });
    await publish('swapped', '1.0', 'VALUE = "swapped"\n');
    await withExecutor(async (fixture) => {
      const { finished } = await run(fixture, 'swapped', { locks: toDigests(locks) });
      expect(finished).toMatchObject({
        status: 'failed',
        error: { code: 'dependency_install', message: expect.stringMatching(/swapped==1\.0/) },
      });
    }, locks);
  });

  test('packages that another set has installed are linked without asking the index', async () => {
    await publish('offline', '1.0');
    await publish('beside', '1.0');
    await withExecutor(async (fixture) => {
      await run(fixture, 'offline', { dependencies: ['offline', 'beside'], locks: undefined });
      const [platform] = [...(await withLock(fixture, 'offline')).keys()];
      const before = requests.length;
      const locks = { [platform as string]: computeLockDigest(fixture.service.locks.get(platform as string) ?? []) };
      const { finished } = await run(fixture, 'offline', { dependencies: ['offline>=1'], locks });
      expect([finished.output, requests.slice(before)]).toEqual(['1.0', []]);
    });
  });

  async function withLock(fixture: ExecutorFixture, name: string) {
    await run(fixture, name);
    return fixture.service.locks;
  }
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
  expect(() => parseRequirement(text)).toThrow(/is not a valid dependency/);
});
