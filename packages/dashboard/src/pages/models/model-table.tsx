import { Box, Text } from '@mantine/core';
import type { Model } from '../../shell/api';
import { DataTable } from '../../ui/data-table';
import { formatDollars } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Column } from '../../ui/table-model';
import styles from './models-page.module.css';

export function ModelTable({ models }: { models: Model[] }) {
  return (
    <Panel title="Models">
      <DataTable label="Model prices" columns={COLUMNS} rows={models} getKey={({ id }) => id} />
      <Text className="caption" maw="68ch" mt="md">
        The operator of this installation configures models, aliases and prices in <code>MODEL_PROVIDERS</code> and{' '}
        <code>MODEL_ALIASES</code>; admins can add models that use the workspace’s own keys with{' '}
        <code>POST /api/models/providers</code>. Calls to models without a price don’t count toward cost, and these
        models can’t be used while a budget is set.
      </Text>
    </Panel>
  );
}

const COLUMNS: Column<Model>[] = [
  {
    head: 'Model',
    className: styles.model,
    sortBy: ({ id }) => id,
    cell: ({ id, is_default: isDefault, provided_by: providedBy }) => (
      <>
        <Text span className="wrap-anywhere" fw={600}>
          {id}
        </Text>
        {isDefault && <span className={styles.tag}>Default</span>}
        {providedBy === 'workspace' && <span className={styles.tag}>Workspace key</span>}
      </>
    ),
  },
  {
    head: 'Aliases',
    cell: ({ aliases }) =>
      aliases.join(', ') || (
        <Text span inherit c="dimmed">
          None
        </Text>
      ),
  },
  {
    head: 'Input per million tokens',
    isNumber: true,
    sortBy: ({ price }) => price?.input_usd_per_mtok,
    cell: ({ price, next_price: next }) => (
      <>
        {price ? (
          formatDollars(price.input_usd_per_mtok)
        ) : (
          <Text span inherit c="dimmed">
            No price
          </Text>
        )}
        {price?.cache_read_usd_per_mtok !== undefined && (
          <Box component="span" display="block" fz="xs" c="dimmed">
            {formatDollars(price.cache_read_usd_per_mtok)} cached
          </Box>
        )}
        {next && <NextPrice from={next.from} usd={next.input_usd_per_mtok} />}
      </>
    ),
  },
  {
    head: 'Output per million tokens',
    isNumber: true,
    sortBy: ({ price }) => price?.output_usd_per_mtok,
    cell: ({ price, next_price: next }) => (
      <>
        {price && formatDollars(price.output_usd_per_mtok)}
        {next && <NextPrice from={next.from} usd={next.output_usd_per_mtok} />}
      </>
    ),
  },
];

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

const NextPrice = ({ from, usd }: { from: string; usd: number }) => (
  <Box component="span" display="block" fz="xs" c="dimmed">
    {formatDollars(usd)} from {dayFormat.format(new Date(from))}
  </Box>
);
