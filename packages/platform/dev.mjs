/**
 * `npm run dev`: the platform of `npm start`, where a saved file replaces the processes that read it, and Vite's server for
 * the dashboard. A file that does not compile is named with its line, and leaves everything running as it is.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {
  compileFile,
  createOpenApiStep,
  createPrismaClientStep,
  isSource,
  listCompiledProjects,
} from './build-for-start.mjs';

/** An editor or a checkout saves several files at once. */
const DEBOUNCE_MS = 50;
/** After the three public ports. */
const VITE_PORT_OFFSET = 3;
const APIS = ['worker-api', 'automation-api', 'skills-api'];
const PROCESSES = [...APIS, 'executor'];
const UNWATCHED = new Set(['node_modules', 'dist', 'generated', 'test', '__pycache__']);

/**
 * @param platform started; `restart(name)` replaces one of its processes
 * @param run the title, the folder and the command line of a process; rejects where that fails
 */
export function startDevelopment({ root, platform, run, say }) {
  const port = Number(process.env.GANTRY_PORT || 8080);
  startVite(root, port + 1, port + VITE_PORT_OFFSET);
  say(`dashboard with live changes: http://localhost:${port + VITE_PORT_OFFSET}`);

  const projects = listCompiledProjects(root);
  const dependents = findDependents(projects);
  let saved = new Set();
  let timer;
  let updating = Promise.resolve();

  async function rebuildAndRestart(files) {
    const startedAt = performance.now();
    try {
      const names = [...(await rebuild({ root, projects, dependents, files, run }))];
      if (!names.length) return;
      await Promise.all(names.map((name) => platform.restart(name)));
      say(`${names.join(', ')} restarted in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    } catch (err) {
      // Together with the next save, which may mend it.
      for (const file of files) saved.add(file);
      say(stripStackTrace(err.message));
    }
  }

  const onSave = (file) => {
    saved.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = [...saved];
      saved = new Set();
      updating = updating.then(() => rebuildAndRestart(files));
    }, DEBOUNCE_MS);
  };
  for (const dir of [...projects, path.join(root, 'openapi')]) watchFolder(dir, onSave);
}

/** swc appends its own stack trace to what is wrong with a file. */
const stripStackTrace = (message) => message.split('Caused by:')[0].trim();

/** Compiles and generates what follows from the saved files. @returns the names of the processes that read it */
async function rebuild({ root, projects, dependents, files, run }) {
  const stale = new Set();
  let contract = false;
  for (const file of files.filter((name) => fs.existsSync(name))) {
    const project = projects.find((dir) => file.startsWith(`${dir}/`));
    if (!project) {
      contract = true;
      continue;
    }
    const inProject = path.relative(project, file);
    if (inProject.endsWith('.test.ts')) continue;
    if (inProject.startsWith('src/') && isSource(inProject.slice('src/'.length))) {
      await compileFile(project, inProject.slice('src/'.length));
    } else if (inProject === 'prisma/schema.prisma') {
      await createPrismaClientStep(project).build(run);
    }
    for (const name of dependents.get(project)) stale.add(name);
  }
  if (contract) {
    await createOpenApiStep(root).build(run);
    for (const name of APIS) stale.add(name);
  }
  return stale;
}

/** By project, the processes whose code it is a part of. */
function findDependents(projects) {
  const listDependencies = (project) => {
    const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
    return projects.filter((other) => `@gantry/${path.basename(other)}` in dependencies);
  };
  const dependents = new Map(projects.map((project) => [project, new Set()]));
  const addDependents = (project, name) => {
    if (dependents.get(project).has(name)) return;
    dependents.get(project).add(name);
    for (const dependency of listDependencies(project)) addDependents(dependency, name);
  };
  for (const project of projects.filter((dir) => PROCESSES.includes(path.basename(dir)))) {
    addDependents(project, path.basename(project));
  }
  return dependents;
}

/** Folder by folder, because a watch of a file ends where an editor replaces that file by another. */
function watchFolder(dir, onSave) {
  fs.watch(dir, (_event, name) => {
    const file = path.join(dir, name);
    if (UNWATCHED.has(name)) return;
    if (!fs.statSync(file, { throwIfNoEntry: false })?.isDirectory()) onSave(file);
    else watchFolder(file, onSave);
  });
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && !UNWATCHED.has(entry.name)) watchFolder(path.join(dir, entry.name), onSave);
  }
}

function startVite(root, platformPort, port) {
  const vite = spawn(
    'node_modules/.bin/vite',
    ['--port', port, '--strictPort', '--clearScreen=false', '--logLevel=warn'].map(String),
    {
      cwd: path.join(root, 'packages/dashboard'),
      env: { ...process.env, GANTRY_DASHBOARD_URL: `http://localhost:${platformPort}` },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  process.once('exit', () => vite.kill());
}
