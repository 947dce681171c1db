import type { Sample } from '../first-run/first-run';
import { shellQuote } from '../shell-quote';
import type { LocalAccess } from './local-state';
import type { Settings } from './settings';

export interface BannerOptions {
  settings: Settings;
  /** Undefined if another person set the platform up. */
  local: LocalAccess | undefined;
  sample: Sample | undefined;
  seconds: string;
  notes: string[];
}

export function formatBanner({ settings, local, sample, seconds, notes }: BannerOptions): string {
  const { urls, dataDir } = settings;
  const signIn = local ? `${local.email}  ${local.password}` : 'with the account created during setup';
  const lines = [
    '',
    `  Gantry is running (started in ${seconds} s). Press Ctrl-C to stop it.`,
    '',
    `  Dashboard    ${urls.dashboard}`,
    `  Worker API   ${urls.base}`,
    `  Skills       ${urls.skills}`,
    `  Sign in      ${signIn}`,
    `  Data         ${dataDir}  (sign-in and token: local.json; logs: logs/)`,
    ...(sample
      ? [
          '',
          ...(sample.worker ? [`  Worker ${sample.worker.id}: created, first run ${sample.worker.status}`] : []),
          `  Automation ${sample.name}: deployed, first run ${sample.status}`,
          `  ${urls.dashboard}${new URL(sample.url).pathname}${new URL(sample.url).search}`,
        ]
      : []),
    ...(local && sample ? ['', '  Try it:', ...formatCurlCommand(settings, sample)] : []),
    ...notes.map((note) => `\n  ! ${note}`),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** The token stays in its file: a terminal is scrolled, copied and recorded. */
function formatCurlCommand({ urls, dataDir }: Settings, sample: Sample): string[] {
  const token = `$(node -p 'require(process.argv[1]).token' ${quote(`${dataDir}/local.json`)})`;
  return [
    `    curl ${quote(`${urls.dashboard}/api/automations/${sample.automation_id}/run`)} \\`,
    `      -H "Authorization: Bearer ${token}" \\`,
    `      -H 'Content-Type: application/json' -d '{"inputs":{}}'`,
  ];
}

/** Only where a shell would not read it as it is: people read it too. */
const quote = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : shellQuote(text));
