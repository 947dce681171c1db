import { startRunBwrap } from './bwrap-process';
import { Child } from './child';
import { buildChildConfig, type SandboxSettings, type SandboxSpec } from './settings';

let startedCount = 0;

/** Starts a bubblewrap sandbox and an interpreter for one run, with the same protections: `isolation: process`. */
export async function startColdChild(settings: SandboxSettings, spec: SandboxSpec): Promise<Child> {
  const bwrap = startRunBwrap(settings, { config: { ...buildChildConfig(spec.tmpBytes), cold: true } });
  const child = new Child(`cold-${++startedCount}`, bwrap.kill, () => {
    const pid = bwrap.getInnerPid();
    if (!pid) throw new Error('not started');
    return pid;
  });
  child.attachControl(bwrap.control);
  child.attachLog('stdout', bwrap.stdout);
  child.attachLog('stderr', bwrap.stderr);
  child.state = 'running';
  bwrap.process.once('error', (err) => child.handleExit({ status: -1, cpuMs: 0, maxRssKb: 0, error: err.message }));
  bwrap.process.once('exit', (code, signal) => {
    // bwrap reports a signal inside as 128 + its number.
    const status = signal ? -9 : code !== null && code > 128 ? 128 - code : (code ?? -1);
    child.handleExit({ status, cpuMs: 0, maxRssKb: 0 });
  });
  await bwrap.inner;
  if (settings.cgroups) child.cgroup = await settings.cgroups.confine(child.hostPid());
  return child;
}
