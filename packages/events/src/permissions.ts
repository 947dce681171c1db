/**
 * Publish and subscribe permissions of each NATS user. The launcher and the Kubernetes manifests render this table into
 * the server's configuration, so a stolen executor can claim work and report on its own runs, and nothing else, except
 * that any executor can write the state of any announced installation (ADR 65), which runs never read. See ADR 17.
 */
import { INTROSPECT_SUBJECT, MEMBERS_SUBJECT } from './auth-protocol';
import { buildEventSubject, buildEventSubjectPattern, type EventType, eventCatalogue, type Service } from './catalogue';
import { buildChangesSubject } from './change-hints';
import { buildReplySubject, CROSS_ACCOUNT_REPLIES, getInboxPrefix } from './inboxes';
import { type RunSource, runSubjects } from './run-protocol';
import { buildDurableName, EVENTS_STREAM, getRunEventsStreamName, INGEST_DURABLE, streamPlans } from './streams';
import { AUTOMATION_STATS_SUBJECT } from './system-protocol';

export interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

const listEvents = (service: Service, part: 'publishers' | 'consumers' | 'watchers'): EventType[] =>
  eventCatalogue.filter((event) => event[part].includes(service));

/** Permits finding a consumer, fetching and acknowledging its messages, and reading the stream's state. */
const buildConsumerPermissions = (stream: string, durable: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];

const toInboxSubjects = (user: string) => `${getInboxPrefix(user)}.>`;

const buildServicePermissions = (name: Service): NatsPermissions => ({
  publish: [
    ...listEvents(name, 'publishers').map((event) => buildEventSubject(event, name)),
    // Publishers check that every consumer exists: see outbox.ts.
    `$JS.API.CONSUMER.LIST.${EVENTS_STREAM}`,
    ...listEvents(name, 'consumers').flatMap((event) =>
      buildConsumerPermissions(EVENTS_STREAM, buildDurableName(name, event)),
    ),
  ],
  subscribe: [
    ...listEvents(name, 'watchers').map(buildEventSubjectPattern),
    toInboxSubjects(name),
    buildReplySubject('*', name, '>'),
  ],
});

const toReplySubjects = (name: Service): string => buildReplySubject(name, '*', '>');

const OWNER_REQUESTS = ['claim', 'withdraw', 'lease', 'artifact', 'step', 'lock', 'installation'] as const;

const buildRunOwnerPermissions = (source: RunSource): NatsPermissions => {
  const { publish, subscribe } = buildServicePermissions(`${source}-api`);
  return {
    publish: [
      ...publish,
      ...buildConsumerPermissions(getRunEventsStreamName(source), INGEST_DURABLE),
      runSubjects.hint(source),
      runSubjects.settled(source, '*'),
      runSubjects.cancel('*', '*'),
      runSubjects.inspect,
      runSubjects.prepare,
      buildChangesSubject(`${source}-api`),
      toReplySubjects(`${source}-api`),
      CROSS_ACCOUNT_REPLIES,
    ],
    subscribe: [
      ...subscribe,
      ...OWNER_REQUESTS.map((request) => runSubjects[request](source, '*')),
      runSubjects.hint(source),
      runSubjects.events(source, '*', '*'),
      runSubjects.settled(source, '*'),
    ],
  };
};

/** See streams.ts: only worker-api creates streams and consumers. */
const streamAdminPermissions = streamPlans.flatMap(({ name }) => [
  ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `$JS.API.STREAM.${verb}.${name}`),
  `$JS.API.CONSUMER.LIST.${name}`,
  ...['INFO', 'CREATE', 'DURABLE.CREATE', 'DELETE'].map((verb) => `$JS.API.CONSUMER.${verb}.${name}.>`),
]);

const worker = buildRunOwnerPermissions('worker');
const automation = buildRunOwnerPermissions('automation');
const skills = buildServicePermissions('skills-api');

export const natsPermissions: Record<Service, NatsPermissions> = {
  'worker-api': {
    publish: [...worker.publish, ...streamAdminPermissions, runSubjects.toolText('*', '*'), AUTOMATION_STATS_SUBJECT],
    subscribe: [
      ...worker.subscribe,
      runSubjects.tool('worker', '*'),
      runSubjects.standby('worker', '*'),
      runSubjects.executorStatus('*'),
      INTROSPECT_SUBJECT,
      MEMBERS_SUBJECT,
      buildChangesSubject('*'),
    ],
  },
  'automation-api': {
    publish: [...automation.publish, INTROSPECT_SUBJECT],
    subscribe: [...automation.subscribe, AUTOMATION_STATS_SUBJECT],
  },
  'skills-api': { publish: [...skills.publish, INTROSPECT_SUBJECT, MEMBERS_SUBJECT], subscribe: skills.subscribe },
};

const listServiceSubjects = (executorId: string): string[] => {
  const anySource = '*' as RunSource;
  return [
    ...([...OWNER_REQUESTS, 'tool', 'standby'] as const).map((request) => runSubjects[request](anySource, executorId)),
    runSubjects.events(anySource, executorId, '*'),
    runSubjects.executorStatus(executorId),
  ];
};

/** Each inspection request allows one reply. */
export const buildExecutorPermissions = (executorId: string): NatsPermissions => ({
  publish: listServiceSubjects(executorId),
  subscribe: [
    runSubjects.cancel(executorId, '*'),
    runSubjects.toolText(executorId, '*'),
    runSubjects.inspect,
    runSubjects.prepare,
    toInboxSubjects(executorId),
  ],
});

/** Every subject that crosses between the executors' account and the services' account. */
export const crossAccountSubjects = {
  /** Requests and reports of executors. */
  toServices: listServiceSubjects('*'),
  /** Messages to executors. */
  toExecutors: [runSubjects.cancel('*', '*'), runSubjects.toolText('*', '*'), runSubjects.prepare],
  /** Requests to executors. */
  askedOfExecutors: [runSubjects.inspect],
};
