/** Tests escape attempts by user code. One shared run makes the attempts; each has its own test. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { ISOLATIONS, startTestSandbox, type TestSandbox } from '../test/sandbox-fixture';

const source = fs.readFileSync(path.join(__dirname, '..', 'test', 'attack.py'), 'utf8');
const names = [...source.matchAll(/^@check\("(.*)"\)$/gm)].map((match) => match[1] ?? '');

/** Source that runs next to the attacker: its /tmp, abstract sockets and shared memory must stay private. */
const VICTIM = `
import ctypes, socket, time
def run():
    open("/tmp/victim-secret", "w").write("s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\\0victim")
    listener.listen()
    ctypes.CDLL(None).shmget(0x5EC2E7, 4096, 0o1600)
    print("ready", flush=True)
    time.sleep(2.5)
    return "unharmed"
`;

describe.each(ISOLATIONS)('user code in a sandbox (isolation: %s)', (isolation) => {
  let fixture: TestSandbox;
  let rows: Map<string, [held: boolean, seen: string]>;
  let victim: unknown;
  const servers: net.Server[] = [];

  beforeAll(async () => {
    process.env.GANTRY_CANARY = 'canary-4711';
    fixture = await startTestSandbox({}, isolation);
    const tcp = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    const abstract = net.createServer((socket) => socket.end()).listen('\0gantry-host-abstract');
    servers.push(tcp, abstract);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
    let ready!: () => void;
    const victimReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const beside = fixture.run(VICTIM, { hooks: { onStream: () => ready() } });
    await victimReady;
    const attack = await fixture.run(source, {
      inputs: {
        victim: fixture.storeFiles({ 'main.py': VICTIM }),
        socket: path.join(fixture.settings.runDir, fs.readdirSync(fixture.settings.runDir).at(-1) ?? '', 'ctl/s'),
        hostPort: (tcp.address() as net.AddressInfo).port,
        hostAbstract: 'gantry-host-abstract',
        canary: 'canary-4711',
        filters: isolation === 'warm' ? 3 : 2,
        paths: [path.dirname(fixture.settings.storeDir), path.resolve(__dirname, '../..')],
      },
    });
    if (attack.outcome.kind !== 'returned') throw new Error(`the attack did not run: ${attack.value}`);
    expect(attack.isWarm).toBe(isolation === 'warm');
    rows = new Map((attack.value as [string, boolean, string][]).map(([name, held, seen]) => [name, [held, seen]]));
    victim = (await beside).value;
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    await fixture.sandbox.stop();
  });

  test.each(names)('%s', (name) => {
    const [held, seen] = rows.get(name) ?? [false, 'not tried'];
    expect(held ? 'held' : seen).toBe('held');
  });

  test('does not affect a run beside it', () => {
    expect(victim).toBe('unharmed');
  });
});
