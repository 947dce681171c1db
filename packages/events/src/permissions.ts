/**
 * Which NATS user may touch which subjects. The launcher and the Kubernetes manifests render this table into the
 * server's configuration, so a stolen executor can ask for work and report on it, and nothing else.
 */
import { INTROSPECT_SUBJECT } from './auth-protocol';
import { type EventType, eventCatalogue, eventSubject, type Service, subjectOfAll } from './catalogue';
import { type RunSource, runSubjects } from './run-protocol';
import { durableOf, EVENTS_STREAM, INGEST_DURABLE, runEventsStream, streamPlans } from './streams';
import { AUTOMATION_STATS_SUBJECT } from './system-protocol';

export interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

const of = (service: Service, part: 'publishers' | 'consumers' | 'watchers'): EventType[] =>
  eventCatalogue.filter((event) => event[part].includes(service));

/** Finding a consumer, fetching its messages and acknowledging them; and how the stream is doing. */
const fetching = (stream: string, durable: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];

/** A user answers anybody and hears only its own replies. */
const inboxOf = (user: string) => `_INBOX.${user}.>`;

const service = (name: Service): NatsPermissions => ({
  publish: [
    ...of(name, 'publishers').map((event) => eventSubject(event, name)),
    ...of(name, 'consumers').flatMap((event) => fetching(EVENTS_STREAM, durableOf(name, event))),
    '_INBOX.>',
  ],
  subscribe: [...of(name, 'watchers').map(subjectOfAll), inboxOf(name)],
});

const owner = (source: RunSource): NatsPermissions => {
  const { publish, subscribe } = service(`${source}-api`);
  return {
    publish: [
      ...publish,
      ...fetching(runEventsStream(source), INGEST_DURABLE),
      runSubjects.hint(source),
      runSubjects.settled(source, '*'),
      runSubjects.cancel('*'),
      runSubjects.inspect,
      INTROSPECT_SUBJECT,
    ],
    subscribe: [
      ...subscribe,
      runSubjects.claim(source),
      runSubjects.withdraw(source),
      runSubjects.lease(source),
      runSubjects.artifact(source),
      runSubjects.step(source),
      runSubjects.hint(source),
      runSubjects.events(source, '*'),
      runSubjects.settled(source, '*'),
      runSubjects.executorStatus,
    ],
  };
};

/** See streams.ts: worker-api alone makes streams and consumers. */
const keeping = streamPlans.flatMap(({ name }) => [
  `$JS.API.STREAM.*.${name}`,
  `$JS.API.CONSUMER.*.${name}`,
  `$JS.API.CONSUMER.*.${name}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${name}.>`,
]);

const worker = owner('worker');
const automation = owner('automation');
const skills = service('skills-api');
const reporting = (path: (source: RunSource) => string) => path('*' as RunSource);

export const natsPermissions: Record<Service | 'executor', NatsPermissions> = {
  'worker-api': {
    publish: [...worker.publish, ...keeping, AUTOMATION_STATS_SUBJECT],
    subscribe: [...worker.subscribe, INTROSPECT_SUBJECT],
  },
  'automation-api': { publish: automation.publish, subscribe: [...automation.subscribe, AUTOMATION_STATS_SUBJECT] },
  'skills-api': { publish: [...skills.publish, INTROSPECT_SUBJECT], subscribe: skills.subscribe },
  executor: {
    publish: [
      reporting(runSubjects.claim),
      reporting(runSubjects.withdraw),
      reporting(runSubjects.lease),
      reporting(runSubjects.artifact),
      reporting(runSubjects.step),
      reporting((source) => runSubjects.events(source, '*')),
      runSubjects.executorStatus,
      '_INBOX.>',
    ],
    subscribe: [runSubjects.cancel('*'), runSubjects.inspect, inboxOf('executor')],
  },
};
