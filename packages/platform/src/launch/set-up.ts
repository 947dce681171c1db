/** Sees to it that the platform has an owner and a sample, and that `local.json` says where and how to sign in. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { checkoutDir } from '../dirs/shared-dir';
import type { Sample } from '../first-run/first-run';
import type { FirstRunInput, FirstRunOutput } from '../first-run/first-run-main';
import { runOnce } from '../supervise/run-once';
import type { Local, LocalState } from './local-state';
import type { Progress } from './progress';
import type { Settings } from './settings';

export interface SetUpOptions {
  settings: Settings;
  state: LocalState;
  progress: Progress;
  setupToken: string;
  /** Whether a run would be executed: without, the samples wait for a later start. */
  executes: boolean;
}

/** The examples that are deployed and run once on a new platform. */
const SAMPLES = { automation: 'examples/csv-report', worker: 'examples/workers/expense-review' };
const EMAIL = 'owner@gantry.local';

/** Creates the first owner and the samples. If everything exists already, it reads two files and writes one. */
export async function setUp(options: SetUpOptions): Promise<{ local?: Local; sample?: Sample }> {
  const { settings, state, progress, setupToken } = options;
  const sampleFile = path.join(state.dir, 'sample.json');
  const local = state.readLocal();
  const sample: Sample | undefined = fs.existsSync(sampleFile)
    ? JSON.parse(fs.readFileSync(sampleFile, 'utf8'))
    : undefined;
  const wantsSample = !sample && options.executes;
  const { base, dashboard, skills } = settings.urls;
  const addresses = { base_url: base, dashboard_url: dashboard, skills_url: skills };
  if (local && !wantsSample) {
    // GANTRY_PORT may have moved them.
    state.writeLocal({ ...local, ...addresses });
    return { local, sample };
  }

  progress.step('creating the first owner, a sample automation and a sample worker');
  const input: FirstRunInput = {
    addresses: settings.urls,
    account: { email: EMAIL, password: randomBytes(12).toString('base64url'), setupToken },
    token: local?.token,
    examples: wantsSample
      ? { automation: path.join(checkoutDir, SAMPLES.automation), worker: path.join(checkoutDir, SAMPLES.worker) }
      : undefined,
  };
  const script = path.join(__dirname, '../first-run/first-run-main.js');
  const done: FirstRunOutput = JSON.parse(await runOnce({ script, input }));
  if (done.sampleProblem) progress.warn(`the samples: ${done.sampleProblem}`);
  if (done.sample) fs.writeFileSync(sampleFile, JSON.stringify(done.sample, null, 2), { mode: 0o600 });
  const signIn = local ?? done.owner;
  if (!signIn) return { sample: done.sample };
  const written = { ...signIn, ...addresses };
  state.writeLocal(written);
  return { local: written, sample: sample ?? done.sample };
}
