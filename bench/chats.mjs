/**
 * Fifty people chat at once:   node bench/chats.mjs [--chats 50] [--seconds 20]
 *
 * Needs a build (npm run build). Says how long reading the list of workers takes while nobody chats and while all do, and how long a
 * chat takes until its first word and its end. Each answer calls two tools and then says 200 words, one every 20 ms; the provider is a
 * process of its own. People are workspace tokens here, ten chats each.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from './measure/client.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { printLatencies, timed } from './measure/stats.mjs';

const WORDS = 200;
const WORD_MS = 20;
const CHATS_EACH = 10;

if (process.argv[2] === 'provider') serveModel();
else await measure();

async function measure() {
  const { chats, seconds } = parseOptions({ chats: 50, seconds: 20 });
  const provider = fork(fileURLToPath(import.meta.url), ['provider']);
  const [port] = await once(provider, 'message');
  const local = { name: 'bench', kind: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1`, models: ['m'] };
  process.env.MODEL_PROVIDERS = JSON.stringify([local]);
  const platform = await startPlatform();
  try {
    const { base_url: url, token } = platform.local;
    const call = createClient(token);
    const people = await Promise.all(
      Array.from({ length: Math.ceil(chats / CHATS_EACH) }, (_, n) =>
        call('POST', `${url}/api/workspace/tokens`, { name: `Person ${n}` }),
      ),
    );
    const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
    for (let n = 0; n < 20; n++)
      await retried(() => call('POST', `${url}/api/workers`, { name: `Worker ${n}`, files }));

    let isOver = false;
    const reads = async () => {
      const ms = [];
      while (!isOver) {
        ms.push(await timed(() => call('GET', `${url}/api/workers`)));
        await sleep(10);
      }
      return ms;
    };
    const during = async (work) => {
      isOver = false;
      const reading = reads();
      await work();
      isOver = true;
      return reading;
    };
    await during(() => sleep(3_000));
    const idle = await during(() => sleep(seconds * 1_000));
    const said = [];
    const busy = await during(async () => {
      const until = Date.now() + seconds * 1_000;
      await Promise.all(
        Array.from({ length: chats }, async (_, n) => {
          while (Date.now() < until) said.push(await chat(url, people[n % people.length].token));
        }),
      );
    });
    printLatencies({
      'list of workers, no chats': idle,
      [`list of workers, ${chats} chats`]: busy,
      'first word of a chat': said.map(({ first }) => first),
      'end of a chat': said.map(({ end }) => end),
    });
  } finally {
    provider.kill();
    await platform.stop();
  }
}

/** The executor may connect a moment after the services. */
async function retried(work) {
  for (let left = 20; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(500);
    }
  }
}

/** @returns {Promise<{first: number, end: number}>} milliseconds until the first word, and until it is over */
function chat(url, token) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const req = http.request(`${url}/api/chat`, { method: 'POST', headers }, (res) => {
      let text = '';
      let first;
      res.setEncoding('utf8');
      res.on('data', (chunk) => {
        text += chunk;
        if (first === undefined && text.includes('event: text')) first = performance.now() - began;
      });
      res.on('end', () => {
        if (!text.includes('"status":"completed"')) return reject(new Error(`${res.statusCode} ${text.slice(-300)}`));
        resolve({ first, end: performance.now() - began });
      });
    });
    req.on('error', reject);
    req.end(JSON.stringify({ message: 'Which workers are there?' }));
  });
}

/** An OpenAI-compatible server: two calls of tools first, then its words. */
function serveModel() {
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const isAnswered = JSON.parse(body).messages.some(({ role }) => role === 'tool');
    const send = (delta, finish = null) => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      res.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`,
      );
    };
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (isAnswered) {
      for (let n = 0; n < WORDS; n++) {
        send({ role: 'assistant', content: `word${n} ` });
        await sleep(WORD_MS);
      }
    } else {
      const calls = ['list_workers', 'list_runs'].map((name, index) => ({
        ...{ index, id: `c${index}`, type: 'function', function: { name, arguments: '{}' } },
      }));
      send({ role: 'assistant', tool_calls: calls });
    }
    send({}, isAnswered ? 'stop' : 'tool_calls');
    res.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}
