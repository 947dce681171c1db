/** Sockets, servers, processes, timers and files that are open in this process, and which of them a suite has left open. */
const fs = require('node:fs');

/** Handles of resources that several suites share (shared-by-worker.ts). */
const shared = Symbol.for('gantry.shared-handles');
globalThis[shared] ??= new WeakSet();

/** What keeps the process alive, and the files that it holds. */
function openResources() {
  return {
    handles: new Set(process._getActiveHandles()),
    timers: process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length,
    files: openFiles(),
  };
}

/** Regular files by descriptor; only Linux lists them. */
function openFiles() {
  const dir = '/proc/self/fd';
  if (!fs.existsSync(dir)) return new Map();
  return new Map(
    fs.readdirSync(dir).flatMap((descriptor) => {
      try {
        const file = fs.readlinkSync(`${dir}/${descriptor}`);
        return file.startsWith('/') && !file.startsWith('/dev/') && !file.startsWith('/proc/')
          ? [[descriptor, file]]
          : [];
      } catch {
        // The descriptor with which the directory was read is closed by now.
        return [];
      }
    }),
  );
}

/** @returns a line for each resource that was not open before; sockets between two of them count once each */
function describeLeaks(before) {
  const now = openResources();
  const ofProcess = [process.stdin, process.stdout, process.stderr];
  const handles = [...now.handles].filter(
    (handle) => !before.handles.has(handle) && !ofProcess.includes(handle) && !globalThis[shared].has(handle),
  );
  const timers = now.timers - before.timers;
  const files = [...now.files].filter(([descriptor, file]) => before.files.get(descriptor) !== file);
  return [
    ...handles.map(describeHandle),
    ...(timers > 0 ? [`${timers} timers`] : []),
    ...files.map(([, file]) => `the file ${file}`),
  ];
}

function describeHandle(handle) {
  const type = handle.constructor?.name ?? 'handle';
  if (handle.spawnargs) return `process ${handle.pid} (${handle.spawnargs.join(' ').slice(0, 120)})`;
  if (handle.remotePort) return `${type} from ${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
  const address = handle.address?.();
  return address?.port ? `${type} on port ${address.port}` : type;
}

module.exports = { openResources, describeLeaks };
