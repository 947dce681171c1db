/**
 * A provider of models that says what it was told to: POST /script gives it answers, each for one request in their order,
 * POST /turns answers by the number of those that a conversation of an agent has, POST /always one for all others, and GET /requests
 * tells what it was asked and what it has answered. It speaks the protocols of OpenAI (/v1/chat/completions) and Anthropic (/v1/messages).
 */
const { createServer } = require('node:http');

let script = [];
/** Answer to requests that the script has nothing for. */
let always = { status: 500, body: 'nothing is left in the script' };
let requests = [];
/** For conversations of agents, by the number of answers that they have. */
let turns = [];
/** Resume requests that are held until POST /release. */
const held = [];

const readBody = async (req) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const DEFAULT_USAGE = { input: 100, output: 10 };

/** Events of an OpenAI-compatible stream. */
function openai({ text = '', calls = [], usage = DEFAULT_USAGE, finish }) {
  const chunk = (delta, finish_reason = null) => ({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const deltas = [...text].map((letter) => chunk({ role: 'assistant', content: letter }));
  const asked = calls.map(({ name, input, id }, index) =>
    chunk({
      tool_calls: [
        { index, id: id ?? `c${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
      ],
    }),
  );
  const told = usage && {
    ...chunk({}),
    choices: [],
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
  };
  const end = chunk({}, finish ?? (calls.length ? 'tool_calls' : 'stop'));
  return [...deltas, ...asked, end, ...(told ? [told] : [])].map((one) => `data: ${JSON.stringify(one)}\n\n`);
}

/** Events of Anthropic's stream. */
function anthropic({ text = '', calls = [], usage = DEFAULT_USAGE }) {
  const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const block = (index, content_block, deltas) => [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const message = {
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null },
    usage: { input_tokens: usage.input, output_tokens: 1, cache_read_input_tokens: usage.cached ?? 0 },
  };
  return [
    event('message_start', { message }),
    ...(text
      ? block(
          ...[0, { type: 'text', text: '' }],
          [...text].map((letter) => ({ type: 'text_delta', text: letter })),
        )
      : []),
    ...calls.flatMap(({ name, input, id }, index) =>
      block(index + 1, { type: 'tool_use', id: id ?? `c${index}`, name, input: {} }, [
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ]),
    ),
    event('message_delta', {
      delta: { stop_reason: calls.length ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    event('message_stop', {}),
  ];
}

/** `$name` in a call stands for that input of the agent's run. */
function turnOf({ messages }) {
  const turn = turns[messages.filter(({ role }) => role === 'assistant').length];
  const first = String(messages.find(({ role }) => role === 'user')?.content ?? '');
  if (!turn || !first.includes('{')) return turn;
  const inputs = JSON.parse(first.slice(first.indexOf('{')));
  const filled = (_, name) => JSON.stringify(inputs[name] ?? null);
  return JSON.parse(JSON.stringify(turn).replaceAll(/"\$(\w+)"/g, filled));
}

async function answer(req, res, protocol) {
  const asked = { path: req.url, headers: req.headers, body: JSON.parse(await readBody(req)), isAnswered: false };
  requests.push(asked);
  res.on('finish', () => {
    asked.isAnswered = true;
  });
  const told = script.shift() ?? turnOf(asked.body) ?? always;
  if (told.hold) await new Promise((resolve) => held.push(resolve));
  if (told.status) {
    res.writeHead(told.status, { 'Content-Type': 'application/json', ...told.headers });
    return res.end(JSON.stringify({ error: { message: told.body ?? 'refused', type: 'scripted' } }));
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  if (told.silent) return res.flushHeaders();
  if (told.raw !== undefined) return res.end(told.raw);
  const events = protocol(told);
  for (const event of told.cut === undefined ? events : events.slice(0, told.cut)) {
    res.write(event);
    if (told.slowMs) await new Promise((resolve) => setTimeout(resolve, told.slowMs));
  }
  if (told.hang) return;
  // The events that are written leave before the connection breaks.
  if (told.cut !== undefined) return setTimeout(() => res.destroy(), 20);
  if (protocol === openai) res.write('data: [DONE]\n\n');
  res.end();
}

createServer(async (req, res) => {
  switch (req.url) {
    case '/script':
      script = JSON.parse(await readBody(req));
      requests = [];
      return res.end();
    case '/turns':
      turns = JSON.parse(await readBody(req));
      requests = [];
      return res.end();
    case '/always':
      always = JSON.parse(await readBody(req));
      return res.end();
    case '/requests':
      return res.end(JSON.stringify(requests));
    case '/release':
      for (const go of held.splice(0)) go();
      return res.end();
    case '/v1/chat/completions':
      return answer(req, res, openai);
    case '/v1/messages':
      return answer(req, res, anthropic);
    default:
      res.writeHead(404).end('{"error":{"message":"no such address"}}');
  }
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('listening\n'));
