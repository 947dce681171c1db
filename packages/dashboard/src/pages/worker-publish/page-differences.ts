import { MANIFEST_PATH } from '../../automations/manifest';
import { DESCRIPTION_CHARS_MAX } from '../../automations/worker-manifest';
import type { Files } from '../../code/files';
import type { Trigger, Worker } from '../../shell/api';
import { formatDollars } from '../../ui/format';
import { formatNetworkRule } from '../../workers/network-labels';
import { formatTrigger } from '../../workers/trigger-descriptions';

interface PageDifference {
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
  const differences = [
    ...listAccessDifferences(worker),
    ...listCodeDifferences(files),
    ...worker.triggers.flatMap(listTriggerDifferences),
    ...listRunDifferences(worker),
    worker.inputs.length === 0 && {
      feature: 'Undeclared inputs',
      effect: 'Automations accept only declared inputs. Add the inputs that run() uses to manifest.json.',
    },
    files.has(MANIFEST_PATH) && {
      feature: `${MANIFEST_PATH} file`,
      effect: 'Replaced by the automation’s manifest.',
    },
    worker.description.length > DESCRIPTION_CHARS_MAX && {
      feature: 'Description',
      effect: 'Only the first 2,000 characters are copied.',
    },
  ];
  return differences.filter((one) => one !== false);
}

/** A difference, or false for a worker that does not have it. */
type PossibleDifference = PageDifference | false;

const listFormat = new Intl.ListFormat('en');

function listAccessDifferences(worker: Worker): PossibleDifference[] {
  const { secrets, connections, contexts, expose, in_body: inBody, network, visibility } = worker;
  const declaredSecrets = new Set(secrets);
  const exposedSecrets = expose.filter((name) => declaredSecrets.has(name));
  const inBodySecrets = inBody.filter((name) => declaredSecrets.has(name));
  return [
    visibility === 'private' && {
      feature: 'Private worker',
      effect: 'All workspace members can see the automation, its code and its runs.',
    },
    secrets.length > 0 && {
      feature: formatFeature('Secret', secrets),
      effect:
        'Only the names are copied, not the values. Set the values for automations, or runs will fail. Everyone who can open the page can start runs that use these values.',
      secrets,
    },
    exposedSecrets.length > 0 && {
      feature: `Values exposed to code: ${listFormat.format(exposedSecrets)}`,
      effect: 'For secrets with allowed hosts, the code gets a placeholder instead.',
    },
    inBodySecrets.length > 0 && {
      feature: `Placeholders in request bodies: ${listFormat.format(inBodySecrets)}`,
      effect: 'Placeholders in request bodies are not replaced.',
    },
    connections.length > 0 && {
      feature: formatFeature('Connection', connections),
      effect: 'Automations can’t use connections. Code that uses a connection will fail.',
    },
    contexts.length > 0 && {
      feature: formatFeature('Context', contexts),
      effect: 'Context files are not copied. Add any files the code needs to the automation.',
    },
    network !== 'public' && {
      feature: `Network: ${formatNetworkRule(network)}`,
      effect: 'Automation runs can reach any public address.',
    },
  ];
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
        feature: `${listFormat.format(features)} in ${path}`,
        effect: 'Works only in workers. Change this code before you deploy.',
      },
    ];
  });
}

function listTriggerDifferences(trigger: Trigger): PageDifference[] {
  switch (trigger.type) {
    case 'cron':
      return [
        {
          feature: `Schedule: ${formatTrigger(trigger)}`,
          effect: 'Not copied. You can set one schedule for the automation under Settings after you deploy it.',
        },
      ];
    case 'webhook':
      return [{ feature: 'Webhook', effect: 'Still starts the worker. Not available for automations.' }];
    case 'event':
      return [
        {
          feature: `Event: ${formatTrigger(trigger)}`,
          effect: 'Still starts the worker. Not available for automations.',
        },
      ];
    default:
      return [];
  }
}

function listRunDifferences({ approvals, retry, limits, on_failure: onFailure }: Worker): PossibleDifference[] {
  const {
    memory_mb: memory = PAGE_MEMORY_MB,
    concurrency,
    runs_per_minute: rate,
    budget_usd_per_month: budget,
  } = limits;
  const bounds = [
    ...(concurrency ? [`${concurrency} at a time`] : []),
    ...(rate ? [`${rate} a minute`] : []),
    ...(budget ? [`${formatDollars(budget)} a month`] : []),
  ];
  return [
    approvals.required === true && {
      feature: 'Approval before each run',
      effect: 'Automation runs start immediately.',
    },
    (retry.max_attempts ?? 1) > 1 && {
      feature: `Up to ${retry.max_attempts} attempts`,
      effect: 'Failed automation runs are not retried.',
    },
    onFailure === 'propose_repair' && {
      feature: 'Repairs',
      effect: 'Failed automation runs are not repaired.',
    },
    bounds.length > 0 && {
      feature: `Run limits: ${listFormat.format(bounds)}`,
      effect: 'Not available for automations.',
    },
    memory > PAGE_MEMORY_MB && {
      feature: `Memory: ${memory} MB`,
      effect: `Automation runs are limited to ${PAGE_MEMORY_MB} MB.`,
    },
  ];
}

const formatFeature = (noun: string, items: readonly string[]): string =>
  `${noun}${items.length > 1 ? 's' : ''} ${listFormat.format(items)}`;
