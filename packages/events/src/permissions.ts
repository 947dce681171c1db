/**
 * Which NATS user may touch which subjects. The launcher and the Kubernetes manifests render this table into the
 * server's configuration, so a stolen executor can ask for work and report on it, and nothing else.
 */
import { INTROSPECT_SUBJECT } from './auth-protocol';
import { EVENTS_STREAM, eventCatalogue } from './catalogue';
import { RUN_EVENTS_STREAM, type RunSource } from './run-protocol';
import { AUTOMATION_STATS_SUBJECT } from './system-protocol';

export interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

const events = eventCatalogue.map((event) => event.subject);
/** Creating and reading streams goes through JetStream's API subjects; replies come to inboxes. */
const jetstream = [
  '$JS.API.INFO',
  ...[EVENTS_STREAM, RUN_EVENTS_STREAM].flatMap((stream) => [
    `$JS.API.STREAM.*.${stream}`,
    `$JS.API.CONSUMER.*.${stream}`,
    `$JS.API.CONSUMER.*.${stream}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
    `$JS.ACK.${stream}.>`,
  ]),
  '$JS.API.STREAM.NAMES',
];

/** A user answers anybody and hears only its own replies. */
const inboxOf = (user: string) => `_INBOX.${user}.>`;

const owner = (source: RunSource): NatsPermissions => ({
  publish: [
    ...events,
    ...jetstream,
    `run.hint.${source}`,
    `run.settled.${source}.*`,
    'run.cancel.*',
    'executor.inspect',
    INTROSPECT_SUBJECT,
    '_INBOX.>',
  ],
  subscribe: [
    `executor.claim.${source}`,
    `executor.withdraw.${source}`,
    `run.lease.${source}`,
    `run.artifact.${source}`,
    `run.step.${source}`,
    `run.hint.${source}`,
    `run.events.${source}.*`,
    `run.settled.${source}.*`,
    'executor.status',
    ...events,
    inboxOf(`${source}-api`),
  ],
});

const worker = owner('worker');
const automation = owner('automation');

export const natsPermissions: Record<'worker-api' | 'automation-api' | 'skills-api' | 'executor', NatsPermissions> = {
  'worker-api': {
    publish: [...worker.publish, AUTOMATION_STATS_SUBJECT],
    subscribe: [...worker.subscribe, INTROSPECT_SUBJECT],
  },
  'automation-api': { publish: automation.publish, subscribe: [...automation.subscribe, AUTOMATION_STATS_SUBJECT] },
  'skills-api': {
    publish: [...events, ...jetstream, INTROSPECT_SUBJECT, '_INBOX.>'],
    subscribe: [...events, inboxOf('skills-api')],
  },
  executor: {
    publish: [
      'executor.claim.*',
      'executor.withdraw.*',
      'run.lease.*',
      'run.artifact.*',
      'run.step.*',
      'run.events.*.*',
      'executor.status',
      '_INBOX.>',
    ],
    subscribe: ['run.cancel.*', 'executor.inspect', inboxOf('executor')],
  },
};
