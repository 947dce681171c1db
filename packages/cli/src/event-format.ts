import type { RunEvent } from '@gantry/sdk';
import { cyan, dim, red, type Text, text, toText, yellow } from './text';

/** An event of a run as one line for people; null for what is no news to them. */
export function formatEvent({ type, data }: RunEvent): Text | null {
  const getText = (name: string): string => {
    const value = data[name];
    return value === null || value === undefined ? '' : String(value);
  };
  switch (type) {
    case 'log':
      return formatLogLine(getText('level'), getText('text'), data.fields);
    case 'status':
      return dim(`run is ${getText('status')}`);
    case 'progress':
      return cyan(`${Math.round(Number(data.fraction) * 100)} % ${getText('message')}`);
    case 'step':
      return dim(`${getText('kind')} ${getText('name')}`);
    case 'artifact':
      return dim(`file ${getText('name')}, ${getText('size')} bytes`);
    case 'approval':
      return data.status === 'pending'
        ? yellow(`waiting for approval: ${getText('title')}  (gantry approvals approve ${getText('approval_id')})`)
        : dim(`${getText('status')} ${formatDecider(getText('decided_by'))}: ${getText('title')}`);
    case 'tool_call':
    case 'tool_result':
      return dim(`${type === 'tool_call' ? '→' : '←'} ${getText('name')} ${getText('text')}`);
    case 'text':
      // A piece of an answer is part of the whole one, which follows.
      return data.offset === undefined ? toText(getText('text')) : null;
    default:
      return null;
  }
}

const formatDecider = (name: string): string => (name ? `by ${name}` : 'without a decision');

export function formatLogLine(level: string, line: string, fields: unknown): Text {
  const details = typeof fields === 'object' && fields !== null ? ` ${JSON.stringify(fields)}` : '';
  const plain = text`${stripColors(line)}${details}`;
  if (level === 'error') return red(plain);
  if (level === 'warning') return yellow(plain);
  return level === 'debug' ? dim(plain) : plain;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours that the code of a worker printed
const COLORS = /\u001b\[[0-9;]{0,20}m/g;
const stripColors = (line: string): string => line.replace(COLORS, '');
