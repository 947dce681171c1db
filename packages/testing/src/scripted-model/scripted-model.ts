/** A provider of models in a process of its own, which answers as a test tells it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { reserveFreePort } from '../free-port';

export interface ScriptedResponse {
  text?: string;
  calls?: { name: string; input: unknown; id?: string }[];
  /** Tokens that it reports; null: it reports none. */
  usage?: { input: number; output: number; cached?: number } | null;
  finish?: string;
  /** Refuses. */
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** The stream's own text, whatever it is. */
  raw?: string;
  /** Breaks the connection after so many events. */
  cut?: number;
  /** Leaves the stream open: without an event, behind its events. */
  silent?: boolean;
  hang?: boolean;
  slowMs?: number;
  /** Answers once the test has released it. */
  hold?: boolean;
}

export interface ReceivedRequest {
  path: string;
  /** All that it was told to say has left; perhaps the reader had gone. */
  isAnswered: boolean;
  headers: Record<string, string>;
  body: {
    messages: { role: string; content: unknown }[];
    tools?: { name?: string; function?: { name: string } }[];
    system?: unknown;
  };
}

export async function startScriptedModel() {
  const port = await reserveFreePort();
  const script = path.join(__dirname, 'scripted-provider.cjs');
  const child = spawn(process.execPath, [script, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${port}`;
  return {
    /** Value of a provider's `base_url`. */
    baseUrl: `${url}/v1`,
    /** An answer for each of the next requests, in their order. */
    says: async (...answers: ScriptedResponse[]): Promise<void> => {
      await fetch(`${url}/script`, { method: 'POST', body: JSON.stringify(answers) });
    },
    /** To agents, an answer for each turn; `"$name"` in a call stands for that input of the run. */
    answersTurns: async (...turns: ScriptedResponse[]): Promise<void> => {
      await fetch(`${url}/turns`, { method: 'POST', body: JSON.stringify(turns) });
    },
    /** To every request that has no answer of its own. */
    alwaysSays: async (answer: ScriptedResponse): Promise<void> => {
      await fetch(`${url}/always`, { method: 'POST', body: JSON.stringify(answer) });
    },
    /** Since it was last told what to say. */
    asked: async (): Promise<ReceivedRequest[]> =>
      (await fetch(`${url}/requests`)).json() as Promise<ReceivedRequest[]>,
    /** Lets requests that are held go on. */
    release: async (): Promise<void> => {
      await fetch(`${url}/release`, { method: 'POST' });
    },
    stop: async (): Promise<void> => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;
