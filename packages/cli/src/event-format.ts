import type { RunEvent } from '@gantry/sdk';
import { cyan, dim, red, type Text, text, toText, yellow } from './text';

/** An event of a run as one line for people; null for what is no news to them. */
export function formatEvent({ type, data }: RunEvent): Text | null {
  const read = (name: string): string => {
    const value = data[name];
    return value === null || value === undefined ? '' : String(value);
  };
  switch (type) {
    case 'log':
      return formatLogLine(read('level'), read('text'), data.fields);
    case 'status':
      return dim(`run is ${read('status')}`);
    case 'progress':
      return cyan(`${Math.round(Number(data.fraction) * 100)} % ${read('message')}`);
    case 'step':
      return dim(`${read('kind')} ${read('name')}`);
    case 'artifact':
      return dim(`file ${read('name')}, ${read('size')} bytes`);
    case 'approval':
      return data.status === 'pending'
        ? yellow(`waits for approval: ${read('title')}  (gantry approvals approve ${read('id')})`)
        : dim(`${read('status')} by ${read('decided_by') || 'nobody in time'}: ${read('title')}`);
    case 'tool_call':
    case 'tool_result':
      return dim(`${type === 'tool_call' ? '→' : '←'} ${read('name')} ${read('text')}`);
    case 'text':
      // A piece of an answer is part of the whole one, which follows.
      return data.offset === undefined ? toText(read('text')) : null;
    default:
      return null;
  }
}

export function formatLogLine(level: string, line: string, fields: unknown): Text {
  const details = typeof fields === 'object' && fields !== null ? ` ${JSON.stringify(fields)}` : '';
  const plain = text`${withoutColors(line)}${details}`;
  if (level === 'error') return red(plain);
  if (level === 'warning') return yellow(plain);
  return level === 'debug' ? dim(plain) : plain;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours that the code of a worker printed
const COLORS = /\u001b\[[0-9;]{0,20}m/g;
const withoutColors = (line: string): string => line.replace(COLORS, '');
