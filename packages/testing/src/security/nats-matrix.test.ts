/**
 * Every NATS user x every subject there is x publish and subscribe, asked of a real server.
 *
 * The rights of a user are written here by hand, from what its role is for, and not taken from permissions.ts: a right
 * that a developer adds there has to be argued for here as well.
 */
import {
  type Bus,
  connectBus,
  createKey,
  createUserCredentials,
  eventCatalogue,
  type NatsConnectionSettings,
  parseSeed,
  runSources,
  services,
  streamPlans,
} from '@gantry/events';
import { connect, credsAuthenticator, ErrorCode, type NatsConnection } from 'nats';
import { captureLogs } from '../capture-logs';
import { startTestNats, type TestNats } from '../test-nats';
import { waitUntil } from '../wait-until';

type Role = (typeof services)[number] | 'executor';
interface Rights {
  says: string[];
  hears: string[];
}

let nats: TestNats;
const { log } = captureLogs();
const opened: Bus[] = [];

beforeAll(async () => {
  nats = await startTestNats();
});
afterEach(async () => {
  for (const bus of opened.splice(0)) await bus.nc.close();
});
afterAll(() => nats.stop());

async function connectTestBus(address: NatsConnectionSettings): Promise<Bus> {
  const bus = await connectBus({ ...address, name: 'matrix', log });
  opened.push(bus);
  return bus;
}

const each = (pattern: (name: string) => string, names: string) => names.split(' ').map(pattern);
/** Publishers look whether all who consume would receive. */
const listPublished = (service: string, types: string) => [
  ...each((type) => `events.${service}.${type}.v1`, types),
  '$JS.API.CONSUMER.LIST.EVENTS',
];
/** A consumer is found, its messages are fetched and acknowledged; and one may ask how full the stream is. */
const fetches = (stream: string, consumers: string) => [
  `$JS.API.STREAM.INFO.${stream}`,
  ...each((name) => `$JS.API.CONSUMER.INFO.${stream}.${name}`, consumers),
  ...each((name) => `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, consumers),
  ...each((name) => `$JS.ACK.${stream}.${name}.>`, consumers),
];
/** Its replicas tell each other, it stops runs, asks executors to look into code, and answers them. */
const ownsRuns = (source: string) => ({
  says: [
    `run.hint.${source}`,
    `run.settled.${source}.*`,
    'run.cancel.*.*',
    'executor.inspect',
    `changes.${source}-api`,
    `answer.${source}-api.*.>`,
    '_R_.>',
    ...fetches(`RUN_EVENTS_${source.toUpperCase()}`, 'ingest'),
  ],
  hears: [
    `run.hint.${source}`,
    `run.settled.${source}.*`,
    `run.events.${source}.*.*`,
    ...each((what) => `${what}.${source}.*`, 'executor.claim executor.withdraw run.lease run.artifact run.step'),
  ],
});
/** The server's answers, and those of other services. */
const listAnswered = (service: string) => [`_INBOX.${service}.>`, `answer.*.${service}.>`];
/** Cached answers about credentials go stale by these. */
const stale = each(
  (type) => `events.*.${type}.v1`,
  'auth.token.revoked member.changed workspace.deleted workspace.restored',
);

const worker = ownsRuns('worker');
const automation = ownsRuns('automation');
/** Makes them and their consumers, and never takes anything out. */
const keepsStreams = ['EVENTS', 'RUN_EVENTS_AUTOMATION', 'RUN_EVENTS_WORKER'].flatMap((stream) => [
  ...each((verb) => `$JS.API.STREAM.${verb}.${stream}`, 'INFO CREATE UPDATE'),
  `$JS.API.CONSUMER.LIST.${stream}`,
  ...each((verb) => `$JS.API.CONSUMER.${verb}.${stream}.>`, 'INFO CREATE DURABLE.CREATE DELETE'),
]);

function getRights(role: Role, id: string): Rights {
  switch (role) {
    case 'worker-api':
      return {
        says: [
          ...listPublished(
            role,
            'run.finished rehearsal.finished worker.changed worker.skill_pinned approval.requested approval.decided schedule.missed connection.failed network.refused evaluation.failed alert.raised auth.token.revoked member.changed workspace.deleted workspace.restored workspace.purged workspace.retention_changed audit.recorded',
          ),
          ...fetches(
            'EVENTS',
            'worker-api-run-finished-v1 worker-api-rehearsal-finished-v1 worker-api-worker-changed-v1 worker-api-approval-requested-v1 worker-api-schedule-missed-v1 worker-api-connection-failed-v1 worker-api-network-refused-v1 worker-api-evaluation-failed-v1 worker-api-alert-raised-v1 worker-api-skill-published-v1 worker-api-skill-changed-v1 worker-api-skill-deleted-v1 worker-api-workspace-purged-v1 worker-api-audit-recorded-v1',
          ),
          ...worker.says,
          ...keepsStreams,
          'system.stats.automation',
          'run.words.*.*',
        ],
        hears: [
          ...worker.hears,
          'run.tool.worker.*',
          ...listAnswered(role),
          ...stale,
          'executor.status.*',
          'auth.introspect.v1',
          'auth.members.v1',
          'changes.*',
        ],
      };
    case 'automation-api':
      return {
        says: [
          ...listPublished(role, 'run.finished automation.deployed audit.recorded'),
          ...fetches(
            'EVENTS',
            'automation-api-workspace-deleted-v1 automation-api-workspace-restored-v1 automation-api-workspace-purged-v1 automation-api-workspace-retention_changed-v1',
          ),
          ...automation.says,
          'auth.introspect.v1',
        ],
        hears: [...automation.hears, ...listAnswered(role), ...stale, 'system.stats.automation'],
      };
    case 'skills-api':
      return {
        says: [
          ...listPublished(role, 'skill.published skill.changed skill.deleted auth.token.revoked audit.recorded'),
          ...fetches(
            'EVENTS',
            'skills-api-run-finished-v1 skills-api-worker-skill_pinned-v1 skills-api-workspace-deleted-v1 skills-api-workspace-restored-v1 skills-api-workspace-purged-v1',
          ),
          'auth.introspect.v1',
          'auth.members.v1',
        ],
        hears: [...listAnswered(role), ...stale],
      };
    case 'executor':
      return {
        says: [
          ...each(
            (what) => `${what}.*.${id}`,
            'executor.claim executor.withdraw run.lease run.artifact run.step run.tool',
          ),
          `run.events.*.${id}.*`,
          `executor.status.${id}`,
        ],
        hears: [`run.cancel.${id}.*`, `run.words.${id}.*`, 'executor.inspect', `_INBOX.${id}.>`],
      };
  }
}

/** Every subject that there is, with whose name it can carry, and what an attacker would try. */
function listSubjects(executors: string[]): string[] {
  const users = [...services, ...executors];
  const streams = [...streamPlans, { name: 'SOMEBODY_ELSES', consumers: [{ durable: 'theirs' }] }];
  return [
    ...eventCatalogue.flatMap(({ type }) => [type, ...services.map((service) => `events.${service}.${type}`)]),
    ...eventCatalogue.map(({ type }) => `events.*.${type}`),
    ...runSources.flatMap((source) => [
      ...executors.flatMap((id) => [
        ...each(
          (what) => `${what}.${source}.${id}`,
          'executor.claim executor.withdraw run.lease run.artifact run.step run.tool',
        ),
        `run.events.${source}.${id}.run_1`,
        `run.events.${source}.${id}.*`,
      ]),
      ...each(
        (what) => `${what}.${source}.*`,
        'executor.claim executor.withdraw run.lease run.artifact run.step run.tool run.settled',
      ),
      `run.events.${source}.*.run_1`,
      `run.events.${source}.*.*`,
      `run.hint.${source}`,
      `run.settled.${source}.run_1`,
    ]),
    ...executors.flatMap((id) => [`run.cancel.${id}.run_1`, `run.cancel.${id}.*`, `executor.status.${id}`]),
    ...executors.flatMap((id) => [`run.words.${id}.run_1`, `run.words.${id}.*`]),
    ...[
      'run.cancel.*.*',
      'run.words.*.*',
      'executor.status.*',
      'executor.inspect',
      'auth.introspect.v1',
      'auth.members.v1',
      'system.stats.automation',
    ],
    ...users.flatMap((user) => [`_INBOX.${user}.x`, `_INBOX.${user}.x.y`, `_INBOX.${user}.>`]),
    ...users.flatMap((asker) => services.map((service) => `answer.${service}.${asker}.x`)),
    ...users.flatMap((asker) => [`answer.*.${asker}.>`, `answer.${asker}.${asker}.x`]),
    ...streams.flatMap(({ name, consumers }) => [
      ...each(
        (verb) => `$JS.API.STREAM.${verb}.${name}`,
        'INFO CREATE UPDATE DELETE PURGE SNAPSHOT RESTORE MSG.GET MSG.DELETE PEER.REMOVE LEADER.STEPDOWN',
      ),
      ...each((verb) => `$JS.API.CONSUMER.${verb}.${name}`, 'CREATE LIST NAMES'),
      `$JS.API.DIRECT.GET.${name}`,
      `$JS.ACK.${name}.>`,
      ...consumers.flatMap(({ durable }) => [
        ...each(
          (verb) => `$JS.API.CONSUMER.${verb}.${name}.${durable}`,
          'INFO CREATE DURABLE.CREATE DELETE MSG.NEXT PAUSE LEADER.STEPDOWN',
        ),
        `$JS.ACK.${name}.${durable}.1.1.1.1.0`,
      ]),
    ]),
    ...['$JS.API.INFO', '$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES', '$JS.API.ACCOUNT.PURGE.x', '$JS.EVENT.>'],
    ...['$SYS.REQ.SERVER.PING', '$SYS.REQ.ACCOUNT.x.CONNZ', '$SYS.ACCOUNT.x.CONNECT', '$SYS.REQ.USER.INFO'],
    ...['$SYS.>', '$JS.>', '$JS.API.>', '_INBOX.>', '_INBOX.*.>', 'answer.>', '_R_.>', '_R_.abcdef.x'],
    ...['>', '*', '*.>', '*.*', 'run.>', 'events.>', 'executor.>', 'run.events.>', 'executor.claim.>', 'run.cancel.>'],
    'something.new',
  ];
}

/** Whether everything that the subject stands for is covered by the pattern. */
function covers(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return given.length > i;
    if (given[i] === undefined || given[i] === '>') return false;
    if (token !== '*' && token !== given[i]) return false;
  }
  return wanted.length === given.length;
}

const isConcrete = (subject: string) => !/(^|\.)(\*|>)(\.|$)/.test(subject);

/** Subjects that the server does not let this connection publish. */
async function findUnpublishable(nc: NatsConnection, subjects: string[]): Promise<Set<string>> {
  const refused = new Set<string>();
  void (async () => {
    for await (const { permissionContext } of nc.status()) {
      if (permissionContext?.operation === 'publish') refused.add(permissionContext.subject);
    }
  })();
  // No JSON, and not empty: what is allowed does no harm.
  for (const subject of subjects) nc.publish(subject, 'x');
  nc.publish('the.last.one', 'x');
  await waitUntil(() => refused.delete('the.last.one'), {
    what: 'the server has looked at all of them',
  });
  return refused;
}

/** Subjects that the server does not let this connection hear. */
async function findUnsubscribable(nc: NatsConnection, subjects: string[]): Promise<Set<string>> {
  const refused = new Set<string>();
  const subscriptions = subjects.map((subject) =>
    nc.subscribe(subject, { callback: (error) => void (error && refused.add(subject)) }),
  );
  await nc.flush();
  for (const subscription of subscriptions) subscription.unsubscribe();
  await nc.flush();
  return refused;
}

/** Differences between the server and the table above. */
async function findHoles(bus: Pick<Bus, 'nc' | 'user'>, role: Role, executors: string[]): Promise<string[]> {
  const { says, hears } = getRights(role, bus.user);
  const subjects = listSubjects(executors);
  const sayable = subjects.filter(isConcrete);
  const [silent, deaf] = [await findUnpublishable(bus.nc, sayable), await findUnsubscribable(bus.nc, subjects)];
  const compare = (what: string, list: string[], refused: Set<string>, rights: string[]) =>
    list.flatMap((subject) => {
      const should = rights.some((right) => covers(right, subject));
      if (should !== refused.has(subject)) return [];
      return [`${what} ${subject}: ${should ? 'is refused' : 'is allowed'}`];
    });
  return [...compare('publish', sayable, silent, says), ...compare('subscribe', subjects, deaf, hears)];
}

test.each([...services])('%s has the permissions that its role needs, and no others', async (service) => {
  const executors = [await connectTestBus(nats.newExecutor()), await connectTestBus(nats.newExecutor())].map(
    ({ user }) => user,
  );
  expect(await findHoles(await connectTestBus(nats.as(service)), service, executors)).toEqual([]);
});

test('an executor may send requests and reports in its own name, and nothing else', async () => {
  const [one, other] = [await connectTestBus(nats.newExecutor()), await connectTestBus(nats.newExecutor())];
  expect(await findHoles(one, 'executor', [one.user, other.user])).toEqual([]);
  expect(await findHoles(other, 'executor', [one.user, other.user])).toEqual([]);
});

test('connections without valid credentials are refused', async () => {
  const refused = { code: ErrorCode.AuthorizationViolation };
  const servers = new URL(nats.url).host;
  await expect(connect({ servers, reconnect: false })).rejects.toMatchObject(refused);
  await expect(connect({ servers, reconnect: false, user: 'worker-api', pass: '' })).rejects.toMatchObject(refused);
});

test('an excess permission would be detected, in either direction', async () => {
  const executors = [(await connectTestBus(nats.newExecutor())).user];
  const { says, hears } = getRights('skills-api', 'skills-api');
  const withRights = (pub: string[], sub: string[]) => {
    const claims = { pub: { allow: pub }, sub: { allow: sub }, subs: -1, data: -1, payload: -1 };
    const creds = createUserCredentials(parseSeed(nats.seeds.servicesAccount), 'skills-api', createKey('user'), claims);
    return connectTestBus({ url: nats.url, creds });
  };
  expect(await findHoles(await withRights(says, hears), 'skills-api', executors)).toEqual([]);
  const forging = await withRights([...says, 'events.*.workspace.purged.v1'], hears);
  expect(await findHoles(forging, 'skills-api', executors)).toContain(
    'publish events.worker-api.workspace.purged.v1: is allowed',
  );
  const listening = await withRights(says, [...hears, '_INBOX.*.>']);
  expect(await findHoles(listening, 'skills-api', executors)).toContain(
    `subscribe _INBOX.${executors[0]}.>: is allowed`,
  );
  const crippled = await withRights(says.slice(1), hears);
  expect(await findHoles(crippled, 'skills-api', executors)).toEqual([
    'publish events.skills-api.skill.published.v1: is refused',
  ]);
});

test('the executors’ key creates executors and nothing else, whatever it signs', async () => {
  const victim = await connectTestBus(nats.newExecutor());
  const everything = { allow: ['>'] };
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const signer = parseSeed(nats.seeds.signers.executor);
  const [ofExecutors, ofServices] = [nats.seeds.executorsAccount, nats.seeds.servicesAccount].map(
    (seed) => parseSeed(seed).publicKey,
  );
  const servers = new URL(nats.url).host;
  const enter = (name: string, claims: object) => {
    const keys = createKey('user');
    const authenticator = credsAuthenticator(Buffer.from(createUserCredentials(signer, name, keys, claims)));
    const user = keys.publicKey;
    return { user, opening: connect({ servers, reconnect: false, authenticator, inboxPrefix: `_INBOX.${user}` }) };
  };
  const refused = { code: ErrorCode.AuthorizationViolation };
  const rights = { pub: everything, sub: everything, ...unlimited };
  await expect(enter('x', { issuer_account: ofExecutors, ...rights }).opening).rejects.toMatchObject(refused);
  await expect(enter('x', { issuer_account: ofServices }).opening).rejects.toMatchObject(refused);
  // A name is only a name: what counts is the public key, which a client cannot choose.
  for (const name of ['*', '>', 'worker-api', victim.user]) {
    const { user, opening } = enter(name, { issuer_account: ofExecutors });
    const nc = await opening;
    expect(await findHoles({ nc, user }, 'executor', [victim.user, user])).toEqual([]);
    await nc.close();
  }
});

test('a reply subject that an executor chooses is not published to, whichever service would reply', async () => {
  const [one, other] = [await connectTestBus(nats.newExecutor()), await connectTestBus(nats.newExecutor())];
  const [spectator, worker] = [await connectTestBus(nats.spectator), await connectTestBus(nats.as('worker-api'))];
  const heard: string[] = [];
  spectator.nc.subscribe('>', { callback: (_, { subject }) => void heard.push(subject) });
  worker.nc.subscribe('executor.claim.worker.*', { callback: (_, message) => void message.respond('{"job":null}') });
  await Promise.all([spectator.nc.flush(), worker.nc.flush()]);
  const state = async () => (await (await spectator.nc.jetstreamManager()).streams.info('EVENTS')).state;
  await spectator.js.publish('events.worker-api.worker.changed.v1', '{}').catch(() => {});
  const before = await state();

  const traps = [
    'events.worker-api.workspace.purged.v1',
    '$JS.API.STREAM.PURGE.EVENTS',
    '$JS.API.STREAM.DELETE.EVENTS',
    `run.cancel.${other.user}.run_1`,
    `run.words.${other.user}.run_1`,
    '_INBOX.worker-api.x',
    '_INBOX.automation-api.x',
    'answer.worker-api.automation-api.x',
    'run.settled.worker.run_1',
    `executor.claim.worker.${other.user}`,
  ];
  for (const reply of traps) {
    one.nc.publish(`run.events.worker.${one.user}.run_1`, '{}', { reply });
    one.nc.publish(`executor.claim.worker.${one.user}`, '{}', { reply });
  }
  await one.js.publish(`run.events.worker.${one.user}.last`, '{}');
  await waitUntil(() => heard.includes(`run.events.worker.${one.user}.last`));
  await spectator.nc.flush();
  expect(heard.filter((subject) => traps.includes(subject))).toEqual([]);
  expect(await state()).toMatchObject({ messages: before.messages, last_seq: before.last_seq });
});
