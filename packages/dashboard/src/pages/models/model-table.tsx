import { Box, Text } from '@mantine/core';
import type { Model } from '../../shell/api';
import table from '../../ui/data-table.module.css';
import { formatDollars } from '../../ui/format';
import { Panel } from '../../ui/panel';
import styles from './models-page.module.css';

export function ModelTable({ models }: { models: Model[] }) {
  return (
    <Panel title="Models">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={table.scroll} tabIndex={0} aria-label="Models as a table">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Model</th>
              <th>Aliases</th>
              <th className={table.number}>A million tokens in</th>
              <th className={table.number}>A million out</th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <ModelRow key={model.id} model={model} />
            ))}
          </tbody>
        </table>
      </section>
      <Text className="wrap-anywhere" maw="68ch" mt="md" fz="xs" c="dimmed">
        The operator of this installation sets models, aliases and prices in <code>MODEL_PROVIDERS</code> and{' '}
        <code>MODEL_ALIASES</code>; admins offer those of the workspace’s own keys with{' '}
        <code>POST /api/models/providers</code>. A model without a price has no cost here, and is not called while a
        budget holds.
      </Text>
    </Panel>
  );
}

function ModelRow({ model }: { model: Model }) {
  const { id, provided_by: providedBy, aliases, is_default: isDefault, price, next_price: next } = model;
  return (
    <tr>
      <td className={styles.model}>
        <Text span className="wrap-anywhere" fw={600}>
          {id}
        </Text>
        {isDefault && <span className={styles.tag}>Default</span>}
        {providedBy === 'workspace' && <span className={styles.tag}>Own key</span>}
      </td>
      <td>
        {aliases.length > 0 ? (
          aliases.join(', ')
        ) : (
          <Text span inherit c="dimmed">
            None
          </Text>
        )}
      </td>
      {price ? (
        <>
          <td className={table.number}>
            {formatDollars(price.input_usd_per_mtok)}
            {price.cache_read_usd_per_mtok !== undefined && (
              <Box component="span" display="block" fz="xs" c="dimmed">
                {formatDollars(price.cache_read_usd_per_mtok)} from its cache
              </Box>
            )}
            {next && <NextPrice from={next.from} usd={next.input_usd_per_mtok} />}
          </td>
          <td className={table.number}>
            {formatDollars(price.output_usd_per_mtok)}
            {next && <NextPrice from={next.from} usd={next.output_usd_per_mtok} />}
          </td>
        </>
      ) : (
        <Box component="td" className={table.number} c="dimmed" colSpan={2}>
          No price
          {next && <NextPrice from={next.from} usd={next.input_usd_per_mtok} />}
        </Box>
      )}
    </tr>
  );
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

const NextPrice = ({ from, usd }: { from: string; usd: number }) => (
  <Box component="span" display="block" fz="xs" c="dimmed">
    {formatDollars(usd)} from {dayFormat.format(new Date(from))}
  </Box>
);
