import type { WorkerSchemas } from '@gantry/sdk';
import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { DataTable } from '../../ui/data-table';
import { formatDollars, formatNumber } from '../../ui/format';
import { Meter } from '../../ui/meter';
import { Panel } from '../../ui/panel';
import type { Column } from '../../ui/table-model';
import styles from './models-page.module.css';

type ModelUsage = WorkerSchemas['ModelUsage'];
type UsedModel = ModelUsage['models'][number];

/** Lists models by cost, highest first, each with a bar relative to the highest. */
export function UsageByModel({ usage: { models } }: { usage: ModelUsage }) {
  const maxUsd = Math.max(...models.map(({ usd }) => usd));
  const columns: Column<UsedModel>[] = [
    {
      head: 'Model',
      className: styles.model,
      cell: ({ model, usd }) => (
        <>
          <Text span className="wrap-anywhere" fw={600}>
            {model}
          </Text>
          <Meter mt="xs" maw="12rem" share={maxUsd > 0 ? usd / maxUsd : 0} tone="accent" />
        </>
      ),
    },
    { head: 'Cost', cell: ({ usd }) => formatDollars(usd), isNumber: true },
    {
      head: 'Calls',
      isNumber: true,
      cell: ({ calls, failed_calls }) => (
        <>
          {formatNumber(calls)}
          {failed_calls > 0 && <SecondaryLine color="var(--error)">{formatNumber(failed_calls)} failed</SecondaryLine>}
        </>
      ),
    },
    {
      head: 'Input tokens',
      isNumber: true,
      cell: ({ input_tokens, cached_tokens }) => (
        <>
          {formatNumber(input_tokens)}
          {cached_tokens > 0 && <SecondaryLine color="dimmed">{formatNumber(cached_tokens)} cached</SecondaryLine>}
        </>
      ),
    },
    { head: 'Output tokens', cell: ({ output_tokens }) => formatNumber(output_tokens), isNumber: true },
  ];
  return (
    <Panel title="By model">
      <DataTable label="Usage by model" columns={columns} rows={models} getKey={({ model }) => model} />
    </Panel>
  );
}

const SecondaryLine = ({ color, children }: { color: string; children: ReactNode }) => (
  <Box component="span" display="block" fz="xs" c={color}>
    {children}
  </Box>
);
