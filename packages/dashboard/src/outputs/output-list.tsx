import { Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { OutputItem } from '../shell/api';
import { formatNumber } from '../ui/format';
import { parseCsv } from './csv';
import type { LinkedArtifact } from './linked-artifact';
import { OutputFile, OutputImage } from './output-file';
import { OutputJson } from './output-json';
import { OutputTable } from './output-table';
import { buildOutputViews, type OutputView } from './output-view';

const OutputMarkdown = lazy(() => import('./output-markdown'));

interface OutputListProps {
  items: OutputItem[];
  outputs: Record<string, unknown>;
  artifacts: LinkedArtifact[];
  /** Drawn below a number. */
  renderHistory?: (output: { name: string; label: string }) => ReactNode;
}

/** Lists declared outputs in their order, then undeclared ones, then files that no output names. */
export function OutputList({ items, outputs, artifacts, renderHistory }: OutputListProps) {
  const { drawn: views, unclaimed } = buildOutputViews(items, outputs, artifacts);
  if (views.length === 0 && unclaimed.length === 0) return <Text c="dimmed">The run returned no outputs.</Text>;
  return (
    <Stack gap="lg">
      {groupIntoRows(views).map((row) => (
        <Group key={row[0]?.name} gap="lg" align="stretch">
          {row.map((output) => (
            <Stack
              key={output.name}
              component="section"
              gap="xs"
              flex="1 1 14rem"
              miw={0}
              aria-label={output.label}
              data-output={output.name}
            >
              <Box component="h3" c="dimmed">
                {output.label}
              </Box>
              <Suspense fallback={<Skeleton height={80} />}>
                <OutputBody output={output} renderHistory={renderHistory} />
              </Suspense>
            </Stack>
          ))}
        </Group>
      ))}
      {unclaimed.length > 0 && (
        <Stack component="section" gap="xs" aria-label="Files">
          <Box component="h3" c="dimmed">
            Files
          </Box>
          {unclaimed.map((artifact) => (
            <OutputFile key={artifact.id} artifact={artifact} />
          ))}
        </Stack>
      )}
    </Stack>
  );
}

/** Numbers that follow each other stand side by side; everything else needs the width. */
function groupIntoRows(views: OutputView[]): OutputView[][] {
  const rows: OutputView[][] = [];
  for (const output of views) {
    const row = rows.at(-1);
    if (output.as === 'number' && row?.[0]?.as === 'number') row.push(output);
    else rows.push([output]);
  }
  return rows;
}

interface OutputBodyProps extends Pick<OutputListProps, 'renderHistory'> {
  output: OutputView;
}

function OutputBody({ output, renderHistory }: OutputBodyProps): ReactNode {
  switch (output.as) {
    case 'table':
      return <OutputTable name={output.name} label={output.label} table={output.table} />;
    case 'csv':
      return <OutputTable name={output.name} label={output.label} table={parseCsv(output.text)} />;
    case 'number':
      return (
        <Stack gap="xs">
          <Text className="wrap-anywhere" fz="var(--text-figure)" fw={640} lh={1.05} lts="-0.03em">
            {formatNumber(output.value)}
          </Text>
          {renderHistory?.(output)}
        </Stack>
      );
    case 'markdown':
      return <OutputMarkdown text={output.text} />;
    case 'image':
      return <OutputImage label={output.label} url={output.url} artifact={output.artifact} />;
    case 'file':
      return <OutputFile artifact={output.artifact} />;
    case 'text':
      return (
        <Text className="pre-wrap wrap-anywhere" maw="68ch">
          {output.text}
        </Text>
      );
    case 'json':
      return <OutputJson value={output.value} />;
  }
}
