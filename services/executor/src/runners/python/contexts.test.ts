/** Tests contexts: files of runs under contexts/<name>/, and the write-back of writeable ones. */
import { createHash } from 'node:crypto';
import { readZip } from '@gantry/archive';
import type { JobContext } from '@gantry/events';
import { buildRawZip, createZip } from '@gantry/testing';
import { setupTestExecutor } from '../../test/executor-fixture';
import type { JobOverrides } from '../../test/fake-service';

const fixture = setupTestExecutor();

async function storeContext(
  name: string,
  files: Record<string, string | Buffer> | Buffer,
  writeable = false,
): Promise<JobContext> {
  const { service } = fixture;
  const zip = Buffer.isBuffer(files) ? files : await createZip(files);
  const digest = createHash('sha256').update(zip).digest('hex');
  service.objects.set(`contexts/${digest}`, zip);
  return { name, digest, url: service.buildUrl(`contexts/${digest}`), size: zip.length, writeable };
}

async function readFiles(zip: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readZip(zip, { entries: 100, bytes: 1 << 20 })) {
    files[entry.path] = (await entry.content()).toString();
  }
  return files;
}

const buildWriteAttempts = (source: string) => `
import os
def run():
    seen = []
    for deed in (${source}):
        try:
            deed()
            seen.append("done")
        except OSError as error:
            seen.append(error.strerror)
    return seen
`;

describe.each(['zygote', 'process'] as const)('contexts (isolation: %s)', (isolation) => {
  const runWithContexts = (source: string, contexts: JobContext[], overrides: JobOverrides = {}) =>
    fixture.service.run(source, { contexts, isolation, ...overrides });

  test('are found in the working directory and by variable, downloaded once, invisible to other runs', async () => {
    const guide = await storeContext('style-guide', { 'a.txt': 'use few words', 'deep/b.bin': Buffer.from([0, 255]) });
    const other = await storeContext('prices', { 'p.csv': `1;2;${isolation}`, 'same.py': 'X = 1' });
    const source = `
import os
def run():
    return [sorted(os.listdir("contexts")), open("contexts/style-guide/a.txt").read(),
            list(open(os.path.join(os.environ["CONTEXTS_DIR"], "style-guide/deep/b.bin"), "rb").read()),
            sorted(os.listdir("contexts/prices")) if os.path.exists("contexts/prices") else None, os.path.exists("/tmp/.contexts")]
`;
    const ends = [await runWithContexts(source, [guide, other]), await runWithContexts(source, [guide])];
    expect(ends.map(({ finished }) => finished.output)).toEqual([
      [['prices', 'style-guide'], 'use few words', [0, 255], ['p.csv', 'same.py'], false],
      [['style-guide'], 'use few words', [0, 255], null, false],
    ]);
    expect(fixture.service.requestsToStore.filter((line) => line.includes(other.digest))).toHaveLength(1);
    const none = await runWithContexts(
      'import os\ndef run(): return [os.listdir("/tmp"), "CONTEXTS_DIR" in os.environ]',
      [],
    );
    expect(none.finished.output).toEqual([[], false]);
  });

  test('can’t be changed unless they are writeable, and neither can the source of a writeable one', async () => {
    const contexts = [
      await storeContext('fixed', { 'a.txt': 'a' }),
      await storeContext('notes', { 'n.txt': 'n' }, true),
    ];
    const deeds = [
      'lambda: open("contexts/fixed/a.txt", "w")',
      'lambda: open("contexts/fixed/new.txt", "w")',
      'lambda: os.unlink("contexts/fixed/a.txt")',
      'lambda: os.chmod("contexts/fixed/a.txt", 0o777)',
      'lambda: os.rename("contexts/fixed", "/tmp/elsewhere")',
      'lambda: open("/tmp/.contexts/notes/n.txt", "w")',
    ];
    const { finished } = await runWithContexts(buildWriteAttempts(deeds.join(', ')), contexts);
    const readOnly = 'Read-only file system';
    const [write, create, unlink, chmod, rename, given] = finished.output as string[];
    expect([create, unlink, chmod]).toEqual([readOnly, readOnly, readOnly]);
    expect([readOnly, 'Permission denied']).toContain(write);
    expect([readOnly, 'Permission denied']).toContain(given);
    expect(rename).toMatch(/busy|cross-device/i);
  });

  test('that are writeable are uploaded in full if their files differ, and otherwise not at all', async () => {
    const { service } = fixture;
    const memory = await storeContext('memory', { 'keep.txt': 'kept', 'old/gone.txt': 'x', 'n.txt': '1' }, true);
    const untouched = await storeContext('untouched', { 'a.txt': 'a' }, true);
    const source = `
import os, shutil
def run():
    os.chdir("contexts/memory")
    shutil.rmtree("old")
    open("n.txt", "w").write("2")
    os.makedirs("new/deep"); open("new/deep/ü.txt", "w").write("new")
    os.symlink("/etc/passwd", "link"); os.symlink("/usr", "folder"); os.mkfifo("fifo")
    open("../untouched/a.txt", "w").write("a")
    return "done"
`;
    const { finished, events, log } = await runWithContexts(source, [memory, untouched]);
    expect(finished).toMatchObject({ status: 'completed', output: 'done' });
    const changed = events.filter((event) => event.type === 'context');
    expect(changed).toEqual([expect.objectContaining({ name: 'memory', from: memory.digest })]);
    const stored = service.objects.get(changed[0]?.key ?? '') ?? Buffer.alloc(0);
    expect(changed[0]).toMatchObject({
      size: stored.length,
      sha256: createHash('sha256').update(stored).digest('hex'),
    });
    expect(await readFiles(stored)).toEqual({ 'keep.txt': 'kept', 'n.txt': '2', 'new/deep/ü.txt': 'new' });
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['context', 'finished']);
    for (const name of ['link', 'folder', 'fifo']) {
      expect(log).toContain(`'contexts/memory/${name}' is not a regular file, and is not saved.`);
    }
    const again = await runWithContexts('def run(): return open("contexts/memory/n.txt").read()', [
      await storeContext('memory', stored, true),
    ]);
    expect(again.finished.output).toBe('2');
    expect(again.events.filter(({ type }) => type === 'context')).toEqual([]);
  });

  test('are not saved by a run that fails or waits', async () => {
    const notes = await storeContext('notes', { 'n.txt': 'n' }, true);
    const change =
      'from gantry import context\ndef run():\n    open("contexts/notes/n.txt", "w").write("changed")\n    ';
    const ends = [
      await runWithContexts(`${change}raise ValueError()`, [notes]),
      await runWithContexts(`${change}context.sleep(60)`, [notes]),
    ];
    expect(ends.map(({ finished }) => finished.status)).toEqual(['failed', 'suspended']);
    for (const { events } of ends) expect(events.filter(({ type }) => type === 'context')).toEqual([]);
  });

  test('that are writeable count against the space of /tmp, and are rejected if they become too large', async () => {
    const large = await storeContext('large', { 'a.bin': Buffer.alloc(6 << 20, isolation) }, true);
    const limits = { tmpBytes: 4 << 20 };
    const full = await runWithContexts('def run(): return 1', [large], { limits });
    expect(full.finished.error?.message).toMatch(/context 'large' cannot be copied to \/tmp: (No space left|File too)/);
    const grown = 'import os\ndef run(): open("contexts/large/b.bin", "wb").write(os.urandom(5 << 20))';
    const back = await runWithContexts(grown, [large]);
    expect(back.finished.error?.message).toMatch(
      /context 'large' could not be saved: its files are 5\d+ bytes when zipped/,
    );
  });
});

test('a context with a link, an escaping path, another digest or an invalid name fails the run', async () => {
  const link = buildRawZip([{ name: 'link', content: Buffer.from('/etc/passwd'), mode: 0o120777 }]);
  const out = buildRawZip([{ name: '../x' }]);
  const good = await storeContext('good', { 'a.txt': 'a' });
  const bad = [
    await storeContext('bad', link),
    await storeContext('bad', out),
    { ...good, digest: '3'.repeat(64) },
    { ...good, name: '../tmp' },
  ];
  const ends = await Promise.all(
    bad.map((each) => fixture.service.run('def run(): return 1', { contexts: [each], isolation: 'zygote' })),
  );
  expect(ends.map(({ finished }) => finished.error?.message)).toEqual([
    expect.stringMatching(/"link" is a link or a special file/),
    expect.stringMatching(/not a plain relative path/),
    expect.stringMatching(/the context good was downloaded, but has the digest/),
    expect.stringMatching(/its contexts have invalid names/),
  ]);
  for (const { events } of ends) expect(events.map(({ type }) => type)).toEqual(['finished']);
});

/** Builds code that submits its own zip as a changed context, bypassing the harness. */
const buildForgedPack = (name: string, zip: Buffer) => `
import base64, json, os, struct
def send(body): os.write(3, struct.pack(">I", len(body)) + body)
def receive(): return json.loads(os.read(3, struct.unpack(">I", os.read(3, 4))[0]))
def run():
    zip = base64.b64decode("${zip.toString('base64')}")
    send(json.dumps({"t": "context", "name": "${name}", "size": len(zip)}).encode())
    if "refused" not in (answer := receive()):
        send(b"\\0" + zip)
        answer = receive()
    return answer
`;

test('a forged pack is checked like any untrusted zip', async () => {
  const contexts = [await storeContext('mine', { 'a.txt': 'a' }, true), await storeContext('fixed', { 'b.txt': 'b' })];
  const link = buildRawZip([{ name: 'link', content: Buffer.from('/etc/passwd'), mode: 0o120777 }]);
  const bomb = buildRawZip([{ name: 'zeros', content: Buffer.alloc(101 << 20) }]);
  const answers = await Promise.all(
    [link, bomb, Buffer.from('no zip')].map((zip) => fixture.service.run(buildForgedPack('mine', zip), { contexts })),
  );
  expect(answers.map(({ finished }) => finished.output)).toEqual([
    { refused: expect.stringMatching(/link or a special file/) },
    { refused: expect.stringMatching(/unpacks to more than 100 MB/) },
    { refused: expect.stringMatching(/not a readable zip/) },
  ]);
  const readOnlyRun = await fixture.service.run(buildForgedPack('fixed', link), { contexts });
  expect(readOnlyRun.finished.error?.message).toMatch(/which this run cannot change/);
  for (const { events } of [...answers, readOnlyRun]) expect(events.some(({ type }) => type === 'context')).toBe(false);
});
