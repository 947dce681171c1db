/** The tables of docs/operations/network.md. */
import { eventCatalogue } from '@gantry/events';
import { edges, parties } from './edges';

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const connections = () =>
  table(
    ['From', 'To', 'TCP port', 'Why'],
    edges.map(({ from, to, ports, why }) => [from, to, ports?.join(', ') ?? 'any', why]),
  );

const events = () =>
  table(
    ['Event', 'Published by', 'Handled once by', 'Seen by every replica of'],
    eventCatalogue.map(({ type, publishers, consumers, watchers }) => [
      `\`${type}\``,
      ...[publishers, consumers, watchers].map((names) => names.join(', ')),
    ]),
  );

const labels = () =>
  table(
    ['Party', 'Namespace', 'Label'],
    Object.entries(parties).map(([party, { namespace, labels }]) => [
      party,
      namespace,
      Object.entries(labels)
        .map(([name, value]) => `\`${name}=${value}\``)
        .join(', '),
    ]),
  );

const tables: Record<string, () => string> = { connections, events, parties: labels };

/** @param text the document, with `<!-- name -->` before each table and an empty line after it */
export function withNetworkTables(text: string): string {
  const withTable = (block: string) => {
    const [mark] = block.split('\n', 1);
    const make = tables[/^<!-- (\w+) -->$/.exec(mark as string)?.[1] ?? ''];
    return make ? `${mark}\n${make()}` : block;
  };
  return `${text.trimEnd().split('\n\n').map(withTable).join('\n\n')}\n`;
}
