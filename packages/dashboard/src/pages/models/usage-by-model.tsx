import table from '../../ui/data-table.module.css';
import { dollars, figure } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { ModelUsage } from './model-usage';
import styles from './models-page.module.css';

/** The dearest first, each with its share of the dearest. */
export function UsageByModel({ usage: { models } }: { usage: ModelUsage }) {
  const most = Math.max(...models.map(({ usd }) => usd));
  return (
    <Panel title="By model">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={table.scroll} tabIndex={0} aria-label="Usage by model">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Model</th>
              <th className={table.number}>Cost</th>
              <th className={table.number}>Calls</th>
              <th className={table.number}>Tokens in</th>
              <th className={table.number}>Tokens out</th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <tr key={model.model}>
                <td className={styles.model}>
                  <span className={styles.name}>{model.model}</span>
                  <span className={styles.bar} aria-hidden="true">
                    <span style={{ width: `${most > 0 ? (model.usd / most) * 100 : 0}%` }} />
                  </span>
                </td>
                <td className={table.number}>{dollars(model.usd)}</td>
                <td className={table.number}>
                  {figure(model.calls)}
                  {model.failed_calls > 0 && <span className={styles.failed}>{figure(model.failed_calls)} failed</span>}
                </td>
                <td className={table.number}>
                  {figure(model.input_tokens)}
                  {model.cached_tokens > 0 && (
                    <span className={styles.more}>{figure(model.cached_tokens)} from the cache</span>
                  )}
                </td>
                <td className={table.number}>{figure(model.output_tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}
