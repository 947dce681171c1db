/** Tests images and files in model calls; a stand-in for worker-api replies. */
import { createHash } from 'node:crypto';
import { encode, MODELS_CONNECTION, runSubjects, type ToolCall, toolCall } from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';

const fixture = setupTestExecutor({ sources: ['worker'] });
const tools = [{ name: MODELS_CONNECTION, tools: [] }];
const result = { text: 'A picture.', tool_calls: [], cut: false, model: 'm', usage: {} };

let receivedCalls: ToolCall[] = [];
beforeAll(() => {
  fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
    callback: (_, message) => {
      receivedCalls.push(toolCall.parse(message.json()));
      message.respond(encode({ result }));
    },
  });
});
beforeEach(() => {
  receivedCalls = [];
});

const buildSource = (lines: string) =>
  `import hashlib, json, time\nfrom gantry import context\nfrom _gantry import channel\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const runLines = (lines: string) => fixture.service.run(buildSource(lines), { tools });

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300_000, 7)]);
const digest = createHash('sha256').update(PNG).digest('hex');
const MAKE =
  'data = bytes.fromhex("89504e470d0a1a0a") + b"\\x07" * 300_000\nimage = {"type": "image", "data": data, "media_type": "image/png"}';
const countUploads = () => fixture.service.requestsToStore.filter((one) => one.includes(digest)).length;

test('an image is uploaded once, referenced by its digest in each call, and is not an artifact', async () => {
  const before = countUploads();
  const { finished, events, job } = await runLines(`
${MAKE}
open("notes.md", "w").write("# Notes")
first = context.model({"role": "user", "content": ["What is it?", image, {"type": "file", "path": "notes.md"}]})
return [str(first), str(context.model([{"role": "user", "content": [image]}]))]`);
  expect(finished.output).toEqual(['A picture.', 'A picture.']);
  const part = { type: 'image', sha256: digest, media_type: 'image/png' };
  const notes = { type: 'file', sha256: expect.any(String), media_type: 'text/markdown', name: 'notes.md' };
  expect(receivedCalls.map((call) => call.arguments.messages)).toEqual([
    [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, part, notes] }],
    [{ role: 'user', content: [part] }],
  ]);
  expect(fixture.service.objects.get(`${job.runId}/${digest}`)).toEqual(PNG);
  expect(countUploads()).toBe(before + 1);
  expect(events.some(({ type }) => type === 'artifact')).toBe(false);
});

test('code that runs again uploads nothing twice, and nothing for a recorded response', async () => {
  const lines = `
${MAKE}
context.model({"role": "user", "content": [image]})
if context.attempt == 1: import os; os._exit(9)
return str(context.model({"role": "user", "content": [image]}))`;
  const first = await runLines(lines);
  const before = countUploads();
  fixture.service.recordStep(first.job.runId, { ordinal: 1, kind: 'tool', name: 'model.default', result });
  const again = await fixture.service.runAgain(first.job.runId, { tools, tryNumber: 2 });
  expect(again.finished.output).toBe('A picture.');
  expect(countUploads()).toBe(before);
});

test('invalid files are errors of the code, take no step, and are not sent', async () => {
  const { finished } = await runLines(`
said = []
image = lambda **more: {"type": "image", **more}
png = {"media_type": "image/png"}
for part in (image(data=b"x"), image(data=b"x", media_type="image/svg+xml"), image(data="text", **png), image(**png), 7,
             image(data=b"x", path="x", **png), image(data=bytes(5_242_881), **png), image(path="/dev/null", **png)):
    try:
        context.model({"role": "user", "content": [part]})
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
for parts in ([image(data=bytes([n]), **png) for n in range(11)], [image(data=bytes([n]) * 5_000_000, **png) for n in range(5)]):
    try:
        context.model({"role": "user", "content": parts})
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
return [said, context.step("after", lambda: 1)]`);
  expect(finished.output).toEqual([
    [
      expect.stringMatching(/^ValueError: image: media_type None is not for a model; images are image\/png/),
      expect.stringMatching(/^ValueError: image: media_type 'image\/svg\+xml'/),
      expect.stringMatching(/^TypeError: .*must be bytes, not str/),
      expect.stringMatching(/^ValueError: a part of a message is/),
      expect.stringMatching(/^ValueError: a part of a message is/),
      expect.stringMatching(/^ValueError: a part of a message is/),
      expect.stringMatching(/^ValueError: image has 5242881 bytes/),
      expect.stringMatching(/^ValueError: \/dev\/null is not a regular file/),
      expect.stringMatching(/^ValueError: a question can have 10 images and files, not 11/),
      expect.stringMatching(/^ValueError: .* 20 MB together/),
    ],
    1,
  ]);
  expect(receivedCalls).toEqual([]);
});

const announceAttachment = (overrides: string) =>
  `channel.write_json({"t": "attachment", "sha256": "${'a'.repeat(64)}", "contentType": "image/png", "size": 3, ${overrides}})`;
test.each([
  ['a name that is not a hash', '"sha256": "../x"'],
  ['an unsupported type', '"contentType": "text/html; charset=x"'],
  ['too many bytes', '"size": 5_242_881'],
  ['no size', '"size": None'],
])('a frame with %s ends the run', async (_, overrides) => {
  const { finished } = await runLines(`${announceAttachment(overrides)}\ntime.sleep(5)`);
  expect(finished).toMatchObject({ status: 'failed', error: { code: 'sandbox' } });
});

test('a file whose content differs from the announced digest is refused', async () => {
  const { finished } = await runLines(`
${announceAttachment('"t": "attachment"')}
go = channel.read_json()
channel.write_data(b"abc")
return [go, channel.read_json()]`);
  expect(finished.output).toEqual([{ go: true }, { refused: 'its content does not match the announced digest' }]);
});
