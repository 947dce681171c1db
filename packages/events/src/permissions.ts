/**
 * Publish and subscribe permissions of each NATS user. The launcher and the Kubernetes manifests render this table into the
 * server's configuration, so a stolen executor can claim work and report on its own runs, and nothing else. See ADR 17.
 */
import { INTROSPECT_SUBJECT, MEMBERS_SUBJECT } from './auth-protocol';
import { type EventType, eventCatalogue, eventSubject, type Service, subjectOfAll } from './catalogue';
import { changesSubject } from './change-hints';
import { ANSWERS_ACROSS, answerSubject, inboxPrefixOf } from './inboxes';
import { type RunSource, runSubjects } from './run-protocol';
import { durableOf, EVENTS_STREAM, INGEST_DURABLE, runEventsStream, streamPlans } from './streams';
import { AUTOMATION_STATS_SUBJECT } from './system-protocol';

export interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

const of = (service: Service, part: 'publishers' | 'consumers' | 'watchers'): EventType[] =>
  eventCatalogue.filter((event) => event[part].includes(service));

/** Permits finding a consumer, fetching and acknowledging its messages, and reading the stream's state. */
const fetching = (stream: string, durable: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];

const inboxOf = (user: string) => `${inboxPrefixOf(user)}.>`;

const service = (name: Service): NatsPermissions => ({
  publish: [
    ...of(name, 'publishers').map((event) => eventSubject(event, name)),
    // Publishers check that every consumer exists: see outbox.ts.
    `$JS.API.CONSUMER.LIST.${EVENTS_STREAM}`,
    ...of(name, 'consumers').flatMap((event) => fetching(EVENTS_STREAM, durableOf(name, event))),
  ],
  subscribe: [...of(name, 'watchers').map(subjectOfAll), inboxOf(name), answerSubject('*', name, '>')],
});

const answering = (name: Service): string => answerSubject(name, '*', '>');

const owner = (source: RunSource): NatsPermissions => {
  const { publish, subscribe } = service(`${source}-api`);
  return {
    publish: [
      ...publish,
      ...fetching(runEventsStream(source), INGEST_DURABLE),
      runSubjects.hint(source),
      runSubjects.settled(source, '*'),
      runSubjects.cancel('*', '*'),
      runSubjects.inspect,
      runSubjects.prepare,
      changesSubject(`${source}-api`),
      answering(`${source}-api`),
      ANSWERS_ACROSS,
    ],
    subscribe: [
      ...subscribe,
      runSubjects.claim(source, '*'),
      runSubjects.withdraw(source, '*'),
      runSubjects.lease(source, '*'),
      runSubjects.artifact(source, '*'),
      runSubjects.step(source, '*'),
      runSubjects.hint(source),
      runSubjects.events(source, '*', '*'),
      runSubjects.settled(source, '*'),
    ],
  };
};

/** See streams.ts: only worker-api creates streams and consumers. */
const keeping = streamPlans.flatMap(({ name }) => [
  ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `$JS.API.STREAM.${verb}.${name}`),
  `$JS.API.CONSUMER.LIST.${name}`,
  ...['INFO', 'CREATE', 'DURABLE.CREATE', 'DELETE'].map((verb) => `$JS.API.CONSUMER.${verb}.${name}.>`),
]);

const worker = owner('worker');
const automation = owner('automation');
const skills = service('skills-api');

export const natsPermissions: Record<Service, NatsPermissions> = {
  'worker-api': {
    publish: [...worker.publish, ...keeping, runSubjects.words('*', '*'), AUTOMATION_STATS_SUBJECT],
    subscribe: [
      ...worker.subscribe,
      runSubjects.tool('worker', '*'),
      runSubjects.standby('worker', '*'),
      runSubjects.executorStatus('*'),
      INTROSPECT_SUBJECT,
      MEMBERS_SUBJECT,
      changesSubject('*'),
    ],
  },
  'automation-api': {
    publish: [...automation.publish, INTROSPECT_SUBJECT],
    subscribe: [...automation.subscribe, AUTOMATION_STATS_SUBJECT],
  },
  'skills-api': { publish: [...skills.publish, INTROSPECT_SUBJECT, MEMBERS_SUBJECT], subscribe: skills.subscribe },
};

const toServices = (executorId: string): string[] =>
  [
    runSubjects.claim,
    runSubjects.withdraw,
    runSubjects.lease,
    runSubjects.artifact,
    runSubjects.step,
    runSubjects.tool,
    runSubjects.standby,
    (source: RunSource, id: string) => runSubjects.events(source, id, '*'),
  ]
    .map((subject) => subject('*' as RunSource, executorId))
    .concat(runSubjects.executorStatus(executorId));

/** Each inspection request allows one reply. */
export const executorPermissions = (executorId: string): NatsPermissions => ({
  publish: toServices(executorId),
  subscribe: [
    runSubjects.cancel(executorId, '*'),
    runSubjects.words(executorId, '*'),
    runSubjects.inspect,
    runSubjects.prepare,
    inboxOf(executorId),
  ],
});

/** Every subject that crosses between the executors' account and the services' account. */
export const crossings = {
  /** Requests and reports of executors. */
  toServices: toServices('*'),
  /** Messages to executors. */
  toExecutors: [runSubjects.cancel('*', '*'), runSubjects.words('*', '*'), runSubjects.prepare],
  /** Requests to executors. */
  askedOfExecutors: [runSubjects.inspect],
};
