/** Sees to it that the platform has an owner and a sample, and that `local.json` says where and how to sign in. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { checkoutDir } from '../dirs/shared-dir';
import type { Owner, Sample } from '../first-run/first-run';
import type { FirstRunInput, FirstRunOutput } from '../first-run/first-run-main';
import { runOnce } from '../supervise/run-once';
import type { LocalAccess, LocalState } from './local-state';
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

/**
 * Creates what is missing of owner and samples. Each is recorded as soon as it exists: a start that is interrupted is
 * continued by the next one. If everything exists already, it reads two files and writes one.
 */
export async function setUp(options: SetUpOptions): Promise<{ local?: LocalAccess; sample?: Sample }> {
  const local = await ensureOwner(options);
  return { local, sample: await ensureSamples(options, local) };
}

/** @returns undefined if the platform was set up by another operator, whose sign-in is not known here */
async function ensureOwner({ settings, state, progress, setupToken }: SetUpOptions): Promise<LocalAccess | undefined> {
  const { base, dashboard, skills } = settings.urls;
  const addresses = { base_url: base, dashboard_url: dashboard, skills_url: skills };
  let signIn: Owner | null | undefined = state.readLocal();
  if (!signIn) {
    progress.step('creating the first owner');
    const interrupted = state.readFirstOwner();
    const account = interrupted ?? { email: EMAIL, password: randomBytes(12).toString('base64url') };
    state.writeFirstOwner(account);
    const isResumed = interrupted !== undefined;
    const input: FirstRunInput = { addresses: settings.urls, account: { ...account, setupToken, isResumed } };
    signIn = (await runFirstRun(input)).owner;
  }
  // GANTRY_PORT may have moved the addresses.
  const local = signIn ? { ...signIn, ...addresses } : undefined;
  if (local) state.writeLocal(local);
  state.deleteFirstOwner();
  return local;
}

async function ensureSamples(options: SetUpOptions, local: LocalAccess | undefined): Promise<Sample | undefined> {
  const { settings, state, progress, executes } = options;
  const sampleFile = path.join(state.dir, 'sample.json');
  if (fs.existsSync(sampleFile)) return JSON.parse(fs.readFileSync(sampleFile, 'utf8'));
  if (!local || !executes) return undefined;
  progress.step('creating a sample automation and a sample worker');
  const examples = {
    automation: path.join(checkoutDir, SAMPLES.automation),
    worker: path.join(checkoutDir, SAMPLES.worker),
  };
  const { sample, sampleProblem } = await runFirstRun({ addresses: settings.urls, token: local.token, examples });
  if (sampleProblem) progress.warn(`the samples: ${sampleProblem}`);
  if (sample) fs.writeFileSync(sampleFile, JSON.stringify(sample, null, 2), { mode: 0o600 });
  return sample;
}

const runFirstRun = async (input: FirstRunInput): Promise<FirstRunOutput> =>
  JSON.parse(await runOnce({ script: path.join(__dirname, '../first-run/first-run-main.js'), input }));
