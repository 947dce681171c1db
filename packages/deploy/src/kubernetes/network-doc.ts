/** The tables of docs/operations/network.md. */
import { eventCatalogue } from '@gantry/events';
import { edges, parties } from './network-edges';

const formatTable = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const formatConnections = () =>
  formatTable(
    ['From', 'To', 'TCP port', 'Why'],
    edges.map(({ from, to, ports, why }) => [from, to, ports?.join(', ') ?? 'any', why]),
  );

const formatEvents = () =>
  formatTable(
    ['Event', 'Published by', 'Handled once by', 'Seen by every replica of'],
    eventCatalogue.map(({ type, publishers, consumers, watchers }) => [
      `\`${type}\``,
      ...[publishers, consumers, watchers].map((names) => names.join(', ')),
    ]),
  );

const formatLabels = () =>
  formatTable(
    ['Party', 'Namespace', 'Label'],
    Object.entries(parties).map(([party, { namespace, labels }]) => [
      party,
      namespace,
      Object.entries(labels)
        .map(([name, value]) => `\`${name}=${value}\``)
        .join(', '),
    ]),
  );

const tables: Record<string, () => string> = {
  connections: formatConnections,
  events: formatEvents,
  parties: formatLabels,
};

/** @param text the document, with `<!-- name -->` before each table and an empty line after it */
export function replaceNetworkTables(text: string): string {
  const replaceTable = (block: string) => {
    const [mark] = block.split('\n', 1);
    const make = tables[/^<!-- (\w+) -->$/.exec(mark as string)?.[1] ?? ''];
    return make ? `${mark}\n${make()}` : block;
  };
  return `${text.trimEnd().split('\n\n').map(replaceTable).join('\n\n')}\n`;
}
