/**
 * `prune.mjs <directory>`: what each image contains, from a built checkout, below `<directory>/<image>`. A tree has the layout of
 * the checkout, so that the code finds its files, and holds nothing that only building or testing needs. Times are fixed:
 * two builds of a commit make the same layers.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const out = path.resolve(process.argv[2]);

const formatCall = (file, name, ...args) =>
  `require('../${file}').${name}(${args.map((arg) => `'${arg}'`).join(', ')});`;
const formatRequire = (file) => `require('../${file}');`;
const getDeployCommand = (name) => `packages/deploy/dist/commands/${name}.js`;
const formatHealthCheck = (port, place) => formatCall(getDeployCommand('health'), 'checkHealth', port, place);

const buildServiceImage = (name) => ({
  projects: [`services/${name}`, 'packages/deploy'],
  commands: {
    serve: formatRequire(`services/${name}/dist/main.js`),
    migrate: formatCall(getDeployCommand('migrate'), 'migrate', name),
    health: formatHealthCheck(3000, '/health'),
  },
});

/** The projects that an image is made of, with what they depend on, and the programs that it has on its PATH. */
const images = {
  'worker-api': {
    ...buildServiceImage('worker-api'),
    commands: { ...buildServiceImage('worker-api').commands, setup: formatCall(getDeployCommand('setup'), 'setup') },
  },
  'automation-api': {
    ...buildServiceImage('automation-api'),
    files: ['packages/dashboard/dist', 'packages/api-docs/dist'],
  },
  'skills-api': buildServiceImage('skills-api'),
  executor: {
    projects: ['services/executor', 'packages/deploy'],
    files: ['services/executor/uv.txt'],
    commands: {
      serve: `${formatCall(getDeployCommand('join'), 'joinInstallation')}\n${formatRequire('services/executor/dist/main.js')}`,
      enrol: formatRequire('services/executor/dist/enrol.js'),
      health: formatHealthCheck(9090, '/health'),
    },
  },
  gateway: {
    projects: ['packages/deploy'],
    files: ['services/gateway'],
    commands: {
      serve: formatCall(getDeployCommand('gateway'), 'gateway'),
      health: formatHealthCheck(8090, '/healthz'),
    },
  },
  setup: {
    projects: ['packages/deploy'],
    commands: { generate: formatCall(getDeployCommand('generate'), 'generate') },
  },
};

/** Of our own projects. */
const RUNTIME = ['package.json', 'dist', 'migrations', 'prisma/migrations', 'python', 'assets', 'starter'];
const EXCLUDED_FILES = /\.(map|d\.ts|tsbuildinfo)$|\/__pycache__$/;
/** Types, sources of what is compiled, and .bin with its shell scripts: half of what npm packages contain. */
const EXCLUDED_PACKAGE_FILES = /\.(map|[cm]?ts|md|markdown|flow|bin)$/;
/** Prisma's drivers of other databases, and all of them a second time as modules. */
const isUnusedPrismaDriver = (file) =>
  file.includes('/@prisma/client/runtime/') &&
  (file.endsWith('.mjs') || (file.includes('_compiler_') && !file.includes('.postgresql.')));

for (const [name, { projects, commands, files = [] }] of Object.entries(images)) {
  const tree = path.join(out, name);
  fs.rmSync(tree, { recursive: true, force: true });
  const seen = new Map();
  for (const project of projects) addProject(path.join(root, project), tree, seen);
  linkOptionalPeers(tree, seen);
  for (const file of files) copyFiltered(path.join(root, file), path.join(tree, file));
  fs.mkdirSync(path.join(tree, 'bin'));
  for (const [command, code] of Object.entries(commands)) {
    fs.writeFileSync(path.join(tree, 'bin', command), `#!/usr/local/bin/node\n${code}\n`, { mode: 0o755 });
  }
  fs.writeFileSync(path.join(tree, 'sbom.cdx.json'), formatSbom(name, [...seen.values()]));
  normalizeFileMetadata(tree);
}

function addProject(project, tree, seen) {
  if (seen.has(project)) return;
  const manifest = readManifest(project);
  seen.set(project, manifest);
  const target = path.join(tree, path.relative(root, project));
  for (const part of RUNTIME) copyFiltered(path.join(project, part), path.join(target, part));
  // The optional ones of our own packages are for `npm start` alone, such as an embedded PostgreSQL.
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const link = path.join(project, 'node_modules', name);
    const dependency = fs.realpathSync(link);
    if (dependency.includes('/node_modules/')) addPackage(dependency, tree, seen);
    else addProject(dependency, tree, seen);
    copyLink(link, path.join(target, 'node_modules', name));
  }
}

/** @param dir below node_modules/.pnpm, where the packages that it depends on are its neighbours */
function addPackage(dir, tree, seen) {
  if (seen.has(dir)) return;
  const manifest = readManifest(dir);
  seen.set(dir, manifest);
  copyFiltered(
    dir,
    path.join(tree, path.relative(root, dir)),
    (file) => EXCLUDED_PACKAGE_FILES.test(file) || isUnusedPrismaDriver(file),
  );
  const neighbours = dir.slice(0, -manifest.name.length);
  const isOptional = (name) => manifest.peerDependenciesMeta?.[name]?.optional;
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((name) => !isOptional(name));
  for (const name of [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...peers]) {
    const link = path.join(neighbours, name);
    // Optional ones are there only for this machine's kind.
    if (!fs.existsSync(link)) continue;
    addPackage(fs.realpathSync(link), tree, seen);
    copyLink(link, path.join(tree, path.relative(root, link)));
  }
}

/** Those that the image contains for another package: ajv-draft-04 calls ajv optional and cannot be loaded without it. */
function linkOptionalPeers(tree, seen) {
  for (const [dir, { name, peerDependenciesMeta = {} }] of seen) {
    for (const peer of Object.keys(peerDependenciesMeta)) {
      const link = path.join(dir.slice(0, -name.length), peer);
      if (!fs.existsSync(link) || !seen.has(fs.realpathSync(link))) continue;
      copyLink(link, path.join(tree, path.relative(root, link)));
    }
  }
}

function copyLink(from, to) {
  if (fs.existsSync(to)) return;
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.symlinkSync(fs.readlinkSync(from), to);
}

function copyFiltered(from, to, isExcluded = (file) => EXCLUDED_FILES.test(file)) {
  if (!fs.existsSync(from)) return;
  fs.cpSync(from, to, { recursive: true, filter: (file) => !isExcluded(file) });
}

function readManifest(dir) {
  return JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
}

/** CycloneDX. Debian's packages are listed by the image itself, in /var/lib/dpkg/status. */
function formatSbom(image, manifests) {
  const components = manifests
    .filter(({ name }) => !name.startsWith('@gantry/'))
    .map(({ name, version, license }) => ({
      type: 'library',
      ...{ name, version, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` },
      ...(typeof license === 'string' && { licenses: [{ expression: license }] }),
    }))
    .sort((a, b) => (a.purl < b.purl ? -1 : 1));
  const metadata = { component: { type: 'container', name: `gantry/${image}` } };
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', metadata, components }, null, 1)}\n`;
}

function normalizeFileMetadata(file) {
  const found = fs.lstatSync(file);
  if (found.isDirectory()) for (const name of fs.readdirSync(file)) normalizeFileMetadata(path.join(file, name));
  fs.lutimesSync(file, 0, 0);
  if (!found.isSymbolicLink()) fs.chmodSync(file, found.isDirectory() || found.mode & 0o100 ? 0o755 : 0o644);
}
