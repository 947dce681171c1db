import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';
import { ensureTool } from './fetch-tool';

// On a Mac the tools come from Homebrew.
const onDebian = fs.existsSync('/usr/bin/apt-get') ? test : test.skip;

/** A package repository in a directory, for apt instead of the machine's own; no lists of it were ever fetched. */
function repository(packages: { name: string; depends?: string; files: Record<string, string> }[]): NodeJS.ProcessEnv {
  const dir = createTemporaryDir('repository');
  const index = packages.map(({ name, depends, files }) => {
    const tree = path.join(dir, name);
    const control = [
      `Package: ${name}`,
      'Version: 1.0',
      'Architecture: all',
      'Maintainer: Nobody <nobody@example.com>',
      'Description: made by a test',
      ...(depends ? [`Depends: ${depends}`] : []),
    ].join('\n');
    for (const [file, content] of Object.entries({ ...files, 'DEBIAN/control': `${control}\n` })) {
      fs.mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
      fs.writeFileSync(path.join(tree, file), content, { mode: file.startsWith('DEBIAN') ? 0o644 : 0o755 });
    }
    const deb = `${name}_1.0_all.deb`;
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', tree, path.join(dir, deb)], { stdio: 'ignore' });
    const content = fs.readFileSync(path.join(dir, deb));
    const digest = createHash('sha256').update(content).digest('hex');
    return `${control}\nFilename: ./${deb}\nSize: ${content.length}\nSHA256: ${digest}\n`;
  });
  fs.writeFileSync(path.join(dir, 'Packages'), index.join('\n'));
  fs.writeFileSync(path.join(dir, 'sources.list'), `deb [trusted=yes] file:${dir} ./\n`);
  fs.writeFileSync(path.join(dir, 'status'), '');
  fs.mkdirSync(path.join(dir, 'lists'));
  const settings = {
    'Dir::Etc::SourceList': 'sources.list',
    'Dir::Etc::SourceParts': 'none',
    'Dir::State::status': 'status',
    'Dir::State::Lists': 'lists',
  };
  const lines = Object.entries(settings).map(([key, file]) => `${key} "${path.join(dir, file)}";`);
  fs.writeFileSync(path.join(dir, 'apt.conf'), lines.join('\n'));
  return { ...process.env, APT_CONFIG: path.join(dir, 'apt.conf') };
}

const program = '#!/bin/sh\necho 1.0\n';

onDebian('a tool that the machine lacks is fetched once, without installing it', async () => {
  const env = repository([{ name: 'nats-server', files: { 'usr/sbin/nats-server': program } }]);
  const dir = createTemporaryDir('tools');
  const steps: string[] = [];
  const options = { dir, path: [], env, onStep: (step: string) => steps.push(step) };
  const first = await ensureTool('nats-server', options);
  expect(path.relative(dir, first)).toBe('nats-server/usr/sbin/nats-server');
  expect(await ensureTool('nats-server', options)).toBe(first);
  expect(steps).toEqual(["fetching nats-server from the system's packages"]);
});

onDebian('what a package needs and the machine lacks comes with it', async () => {
  const needy = '#!/bin/sh\ntest -e "$(dirname "$0")/../share/needed"\n';
  const env = repository([
    { name: 'bubblewrap', depends: 'needed-by-test', files: { 'usr/bin/bwrap': needy } },
    { name: 'needed-by-test', files: { 'usr/share/needed': 'here' } },
  ]);
  await expect(ensureTool('bwrap', { dir: createTemporaryDir('tools'), path: [], env })).resolves.toContain(
    'usr/bin/bwrap',
  );
});

onDebian('libraries are found in whatever directory their package has them', async () => {
  const browser = '#!/bin/sh\ncase ":$LD_LIBRARY_PATH:" in */arch/pulseaudio:*) exit 0 ;; esac\nexit 127\n';
  const env = repository([
    {
      name: 'chromium-headless-shell',
      depends: 'libpulse0-by-test',
      files: { 'usr/bin/chromium-headless-shell': browser },
    },
    { name: 'libpulse0-by-test', files: { 'usr/lib/arch/pulseaudio/libpulsecommon-16.1.so': '' } },
  ]);
  const file = await ensureTool('chromium', { dir: createTemporaryDir('tools'), path: [], env });
  expect(path.basename(file)).toBe('chromium-headless-shell');
});

onDebian('a fetched program that does not start is named with what it prints', async () => {
  const broken = '#!/bin/sh\necho cannot open shared object file >&2\nexit 127\n';
  const env = repository([{ name: 'chromium', files: { 'usr/bin/chromium': broken } }]);
  const obtaining = ensureTool('chromium', { dir: createTemporaryDir('tools'), path: [], env });
  await expect(obtaining).rejects.toThrow('cannot open shared object file');
});

onDebian('a tool that no package holds is named with what apt prints and the command that gets it', async () => {
  const env = repository([{ name: 'something-else', files: {} }]);
  const dir = createTemporaryDir('tools');
  const command = 'sudo apt-get install nginx';
  const obtaining = ensureTool('nginx', { dir, path: [], env });
  await expect(obtaining).rejects.toThrow(command);
  await expect(obtaining).rejects.toThrow('Unable to locate package nginx');
  expect(fs.readdirSync(dir)).toEqual(['apt']);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('uv is named with the command that gets it where the Python package index is out of reach', async () => {
  const dir = createTemporaryDir('tools');
  const env = { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: createTemporaryDir('no-wheels') };
  await expect(ensureTool('uv', { dir, path: [], env })).rejects.toThrow('pip install uv');
  expect(fs.readdirSync(dir)).toEqual([]);
});

test('an installed tool that does not start is not used', async () => {
  const broken = createTemporaryDir('broken');
  const working = createTemporaryDir('working');
  fs.writeFileSync(path.join(broken, 'nginx'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
  fs.mkdirSync(path.join(working, 'nginx/usr/sbin'), { recursive: true });
  fs.writeFileSync(path.join(working, 'nginx/usr/sbin/nginx'), program, { mode: 0o755 });
  const found = await ensureTool('nginx', { dir: working, path: [broken] });
  expect(found).toBe(path.join(working, 'nginx/usr/sbin/nginx'));
});
