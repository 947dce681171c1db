import { MANIFEST } from '../../automations/manifest';
import { DESCRIPTION_CHARS_MAX } from '../../automations/worker-manifest';
import type { Files } from '../../code/files';
import type { Trigger, Worker } from '../../shell/api';
import { formatDollars } from '../../ui/format';
import { networkLabel } from '../../workers/network-labels';
import { triggerLabel } from '../../workers/trigger-descriptions';

export interface PageDifference {
  /** The feature, with the worker's own names. */
  feature: string;
  effect: string;
  /** Names of the secrets that can be set for automations. */
  secrets?: readonly string[];
}

/** The memory of each run of an automation. */
const PAGE_MEMORY_MB = 512;

/** Lists the features of a worker that its automation lacks, or has in another form. */
export function listPageDifferences(worker: Worker, files: Files): PageDifference[] {
  return [
    ...listAccessDifferences(worker),
    ...listCodeDifferences(files),
    ...worker.triggers.flatMap(describeTrigger),
    ...listRunDifferences(worker),
    ...(worker.inputs.length === 0
      ? [
          {
            feature: 'Inputs that are not declared',
            effect: 'An automation accepts declared inputs only. Add those that run() reads to manifest.json.',
          },
        ]
      : []),
    ...(files.has(MANIFEST)
      ? [{ feature: `The file ${MANIFEST}`, effect: 'The manifest of the automation replaces it.' }]
      : []),
    ...(worker.description.length > DESCRIPTION_CHARS_MAX
      ? [{ feature: 'Its description', effect: 'The page has the first 2,000 characters.' }]
      : []),
  ];
}

const names = new Intl.ListFormat('en');

function listAccessDifferences(worker: Worker): PageDifference[] {
  const { secrets, connections, contexts, expose, in_body: inBody, network, visibility } = worker;
  const declaredSecrets = new Set(secrets);
  const exposedSecrets = expose.filter((name) => declaredSecrets.has(name));
  const inBodySecrets = inBody.filter((name) => declaredSecrets.has(name));
  const differences: (PageDifference | false)[] = [
    visibility === 'private' && {
      feature: 'Private worker',
      effect: 'All members of the workspace see the automation, its code and its runs.',
    },
    secrets.length > 0 && {
      feature: formatFeature('Secret', secrets),
      effect:
        'Only names are copied, never values. Automations have values of their own, and their runs fail without them. Everyone who can open the page starts runs with them.',
      secrets,
    },
    exposedSecrets.length > 0 && {
      feature: `Value of ${names.format(exposedSecrets)} in code`,
      effect: 'If the secret has hosts, the code gets a placeholder instead.',
    },
    inBodySecrets.length > 0 && {
      feature: `Placeholder of ${names.format(inBodySecrets)} in bodies`,
      effect: 'Placeholders in the bodies of requests are not replaced.',
    },
    connections.length > 0 && {
      feature: formatFeature('Connection', connections),
      effect: 'Automations have no connections. Code that uses one fails.',
    },
    contexts.length > 0 && {
      feature: formatFeature('Context', contexts),
      effect: 'Its files are not there. Add those that the code needs to the files of the automation.',
    },
    network !== 'public' && {
      feature: `Network: ${networkLabel(network)}`,
      effect: 'Runs of the automation may reach any public address.',
    },
  ];
  return differences.filter((one) => one !== false);
}

/** Features of the context, and folders of contexts, that automations lack. */
const WORKER_ONLY = /\b(?:context|ctx)\.(?:approve|call|connections|model|tools)\b|\bCONTEXTS_DIR\b|\bcontexts\//g;

function listCodeDifferences(files: Files): PageDifference[] {
  return [...files].flatMap(([path, content]) => {
    if (!path.endsWith('.py') || !('text' in content)) return [];
    const features = new Set(content.text.match(WORKER_ONLY));
    if (features.size === 0) return [];
    return [
      {
        feature: `${names.format(features)} in ${path}`,
        effect: 'Works in workers only. Change this code before you deploy.',
      },
    ];
  });
}

function describeTrigger(trigger: Trigger): PageDifference[] {
  switch (trigger.type) {
    case 'cron':
      return [
        {
          feature: `Schedule: ${triggerLabel(trigger)}`,
          effect: 'Not copied. An automation can have one schedule: set it under Settings, once it is deployed.',
        },
      ];
    case 'webhook':
      return [{ feature: 'Webhook', effect: 'It keeps starting the worker. Automations have none.' }];
    case 'event':
      return [
        { feature: `Event: ${triggerLabel(trigger)}`, effect: 'It keeps starting the worker. Automations have none.' },
      ];
    default:
      return [];
  }
}

function listRunDifferences({ approvals, retry, limits, on_failure: onFailure }: Worker): PageDifference[] {
  const {
    memory_mb: memory = PAGE_MEMORY_MB,
    concurrency,
    runs_per_minute: rate,
    budget_usd_per_month: budget,
  } = limits;
  const bounds = [
    ...(concurrency ? [`${concurrency} at once`] : []),
    ...(rate ? [`${rate} a minute`] : []),
    ...(budget ? [`${formatDollars(budget)} a month`] : []),
  ];
  const differences: (PageDifference | false)[] = [
    approvals.required === true && {
      feature: 'Approval before each run',
      effect: 'Runs of the automation start at once.',
    },
    (retry.max_attempts ?? 1) > 1 && {
      feature: `Up to ${retry.max_attempts} attempts`,
      effect: 'A failed run of the automation is not repeated.',
    },
    onFailure === 'propose_repair' && {
      feature: 'Repairs',
      effect: 'A failed run of the automation is not repaired.',
    },
    bounds.length > 0 && {
      feature: `Limit of runs: ${names.format(bounds)}`,
      effect: 'The automation has no such limit.',
    },
    memory > PAGE_MEMORY_MB && {
      feature: `Memory: ${memory} MB`,
      effect: `Runs of the automation have ${PAGE_MEMORY_MB} MB.`,
    },
  ];
  return differences.filter((one) => one !== false);
}

const formatFeature = (noun: string, list: readonly string[]): string =>
  `${noun}${list.length > 1 ? 's' : ''} ${names.format(list)}`;
