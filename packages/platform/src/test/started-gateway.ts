/** A gateway in front of one stub that stands for all three services. */
import fs from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { createTemporaryDir, reserveFreePort } from '@gantry/testing';
import { buildGatewaySpec, type GatewayOptions, getGatewayLogFile } from '../gateway/gateway';
import { collectOutput } from '../supervise/collect-output';
import { startAndWait } from '../supervise/process';
import { ensureTool } from '../tools/fetch-tool';

export type StartedGateway = Awaited<ReturnType<typeof startGateway>>;

/** The stub answers with what it got, and never ends what begins with `/held`. */
export async function startGateway(options: Partial<GatewayOptions> = {}) {
  const open = new Set<http.ServerResponse>();
  const stub = http.createServer({ maxHeaderSize: 96 * 1024 }, (req, res) => {
    if (!req.url?.startsWith('/held')) return void res.end(JSON.stringify({ url: req.url, host: req.headers.host }));
    open.add(res);
    res.once('close', () => open.delete(res));
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': held\n\n');
  });
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve));
  const service = `127.0.0.1:${(stub.address() as AddressInfo).port}`;
  const ports = {
    worker: await reserveFreePort(),
    dashboard: await reserveFreePort(),
    skills: await reserveFreePort(),
  };
  // Characters that mean something in nginx's configuration.
  const dir = path.join(createTemporaryDir('gateway'), 'Größe 7 – {my} $host; "gantry"');
  const running = await startAndWait(
    buildGatewaySpec({
      command: await ensureTool('nginx'),
      dir,
      host: '127.0.0.1',
      ports,
      upstreams: { workerApi: service, automationApi: service, skillsApi: service },
      ...options,
    }),
  );
  const output = collectOutput(running);
  return {
    ports,
    /** Everything that nginx has written anywhere so far. */
    written: () => output() + fs.readFileSync(getGatewayLogFile(dir), 'utf8'),
    /** Number of requests that the stub holds open. */
    held: () => open.size,
    stop: async () => {
      stub.closeAllConnections();
      stub.close();
      await running.stop();
    },
  };
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Sends exactly these bytes; resolves with the first whole answer. */
export function sendRaw(port: number, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(Buffer.from(request, 'latin1')));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
      const answer = wholeAnswer(received);
      if (!answer) return;
      socket.destroy();
      resolve(answer);
    });
    socket.once('error', reject).once('close', () => reject(new Error(`no whole answer: ${received}`)));
  });
}

function wholeAnswer(received: string): RawAnswer | undefined {
  const [head = '', ...rest] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const text = rest.join('\r\n\r\n');
  if (rest.length === 0 || text.length < Number(headers['content-length'])) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, text };
}
