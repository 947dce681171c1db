import { Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { OutputItem } from '../shell/api';
import { figure } from '../ui/format';
import { parseCsv } from './csv';
import { type Drawn, drawnAs } from './drawn-as';
import type { LinkedArtifact } from './linked-artifact';
import { OutputFile, OutputImage } from './output-file';
import { OutputJson } from './output-json';
import styles from './output-list.module.css';
import { OutputTable } from './output-table';

const OutputMarkdown = lazy(() => import('./output-markdown'));

interface OutputListProps {
  items: OutputItem[];
  outputs: Record<string, unknown>;
  artifacts: LinkedArtifact[];
  /** Drawn below a number. */
  historyOf?: (output: { name: string; label: string }) => ReactNode;
}

/** Declared outputs in their order, then what else came back, then files that no output has named. */
export function OutputList({ items, outputs, artifacts, historyOf }: OutputListProps) {
  const { drawn, unclaimed } = drawnAs(items, outputs, artifacts);
  if (drawn.length === 0 && unclaimed.length === 0)
    return <p className={styles.none}>The run succeeded and returned nothing.</p>;
  return (
    <div className={styles.list}>
      {inRows(drawn).map((row) => (
        <div key={row[0]?.name} className={styles.row}>
          {row.map((output) => (
            <section key={output.name} className={styles.output} aria-label={output.label} data-output={output.name}>
              <h3>{output.label}</h3>
              <Suspense fallback={<Skeleton height={80} />}>
                <OutputBody output={output} historyOf={historyOf} />
              </Suspense>
            </section>
          ))}
        </div>
      ))}
      {unclaimed.length > 0 && (
        <section className={styles.output} aria-label="Files">
          <h3>Files</h3>
          {unclaimed.map((artifact) => (
            <OutputFile key={artifact.id} artifact={artifact} />
          ))}
        </section>
      )}
    </div>
  );
}

/** Numbers that follow each other stand side by side; everything else needs the width. */
function inRows(drawn: Drawn[]): Drawn[][] {
  const rows: Drawn[][] = [];
  for (const output of drawn) {
    const row = rows.at(-1);
    if (output.as === 'number' && row?.[0]?.as === 'number') row.push(output);
    else rows.push([output]);
  }
  return rows;
}

interface OutputBodyProps extends Pick<OutputListProps, 'historyOf'> {
  output: Drawn;
}

function OutputBody({ output, historyOf }: OutputBodyProps): ReactNode {
  switch (output.as) {
    case 'table':
      return <OutputTable name={output.name} label={output.label} table={output.table} />;
    case 'csv':
      return <OutputTable name={output.name} label={output.label} table={parseCsv(output.text)} />;
    case 'number':
      return (
        <div className={styles.number}>
          <p className={styles.figure}>{figure(output.value)}</p>
          {historyOf?.(output)}
        </div>
      );
    case 'markdown':
      return <OutputMarkdown text={output.text} />;
    case 'image':
      return <OutputImage label={output.label} url={output.url} artifact={output.artifact} />;
    case 'file':
      return <OutputFile artifact={output.artifact} />;
    case 'text':
      return <p className={styles.text}>{output.text}</p>;
    case 'json':
      return <OutputJson value={output.value} />;
  }
}
