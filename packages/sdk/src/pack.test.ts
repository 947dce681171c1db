/** The package that others install, in a project that knows nothing of this workspace. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';

const ROOT = path.resolve(__dirname, '..');

const PROGRAM = `
const gantry = createGantry({ baseUrl: 'http://localhost:8080', token: 't' });
export async function use(): Promise<string> {
  const { run_id: runId } = await gantry.runs.start('report', { a: 1 });
  const run = await gantry.runs.wait(runId);
  const worker = await unwrap(gantry.worker.GET('/api/workers/{worker_id}', { params: { path: { worker_id: 'report' } } }));
  // @ts-expect-error: no such status
  if (run.status === 'sleeping') return '';
  // @ts-expect-error: no such operation
  await gantry.worker.GET('/api/nothing');
  for await (const { name } of paginate(gantry.worker, '/api/workers')) console.log(name satisfies string);
  return worker.name satisfies string;
}
`;

let project: string;
let installed: string;

beforeAll(() => {
  const folder = createTemporaryDir('package');
  execFileSync(process.execPath, [path.join(ROOT, 'pack.mjs'), folder]);
  project = createTemporaryDir('project');
  const npm = { cwd: project, env: { ...process.env, npm_config_cache: createTemporaryDir('npm') } };
  const tarball = execFileSync('npm', ['pack', '--silent', '--offline', folder], npm).toString().trim();
  installed = path.join(project, 'node_modules/@gantry/sdk');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], { cwd: project });
  // As npm would install them.
  const { dependencies } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  const needed = Object.keys(dependencies).map((name) => realpathSync(path.join(ROOT, 'node_modules', name)));
  const helpers = needed.map((dir) => path.join(dir, '../openapi-typescript-helpers')).filter((dir) => existsSync(dir));
  for (const dir of [...needed, ...helpers]) {
    cpSync(dir, path.join(project, 'node_modules', path.basename(dir)), { recursive: true, dereference: true });
  }
});

test('an ES module and a CommonJS module compile against its types, and run', () => {
  writeFileSync(
    path.join(project, 'esm.mts'),
    `import { createGantry, paginate, unwrap } from '@gantry/sdk';${PROGRAM}`,
  );
  writeFileSync(
    path.join(project, 'cjs.cts'),
    `import { createGantry, paginate, unwrap } from '@gantry/sdk';${PROGRAM}`,
  );
  const settings = ['--strict', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable'];
  /** @returns what the compiler has found */
  const compile = (...args: string[]): string =>
    spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), ...settings, ...args], {
      cwd: project,
      encoding: 'utf8',
    }).stdout;
  expect(compile('--module', 'nodenext', 'esm.mts', 'cjs.cts')).toBe('');
  expect(compile('--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit', 'esm.mts')).toBe('');
  for (const [file, load] of [
    ['esm.mjs', "await import('./esm.mjs')"],
    ['cjs.cjs', "(await import('./cjs.cjs')).default"],
  ]) {
    const script = `console.log(typeof (${load}).use)`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: project });
    expect({ file, said: said.toString().trim() }).toEqual({ file, said: 'function' });
  }
});

test.each(['index.mjs', 'index.js'])('%s names nothing that only Node has', (file) => {
  const lines = readFileSync(path.join(installed, file), 'utf8').split('\n');
  const code = lines.filter((line) => !/^\s*[/*]/.test(line)).join('\n');
  expect(code).toContain('createGantry');
  expect(code.match(/node:\w+|\bBuffer\b|\bprocess\b|\b__dirname\b|\bsetImmediate\b/g)).toBeNull();
});

test('every operation is documented on the page of its resource', () => {
  const docs = path.join(installed, 'docs');
  const index = readFileSync(path.join(docs, 'README.md'), 'utf8');
  for (const surface of ['worker', 'automation', 'skills']) {
    const pages = readdirSync(path.join(docs, surface));
    for (const page of pages) expect(index).toContain(`(${surface}/${page})`);
    const text = pages.map((page) => readFileSync(path.join(docs, surface, page), 'utf8')).join('\n');
    const { paths } = JSON.parse(readFileSync(path.join(ROOT, `../openapi/dist/${surface}.json`), 'utf8'));
    const operations = Object.values(paths as Record<string, Record<string, { operationId?: string }>>)
      .flatMap((item) => Object.values(item))
      .flatMap(({ operationId }) => operationId ?? []);
    expect(operations.filter((id) => !text.includes(`\`${id}\``))).toEqual([]);
    expect(operations.length).toBeGreaterThan(5);
  }
  expect(readFileSync(path.join(installed, 'README.md'), 'utf8')).not.toMatch(/\]\((?!https?:|#|docs\/)/);
});
