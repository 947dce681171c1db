import { formatNumber } from '../../ui/format';
import { Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Meter } from './meter';
import styles from './overview-page.module.css';
import type { Overview } from './overview-queries';
import { countSlots } from './slots';

/** Shows the load of the installation, over all workspaces. */
export function CapacityPanel({ overview }: { overview: Overview }) {
  const { slots, busy } = countSlots(overview);
  const readyCount = overview.executors.filter(({ state }) => state === 'ready').length;
  if (slots === 0) {
    return (
      <Notice tone="error" title="No executor is ready">
        Runs wait in the queue until one is. The operator of this installation has to start one.
      </Notice>
    );
  }
  return (
    <Panel title="Capacity">
      <div className={styles.capacity}>
        <p className={styles.lead}>
          <strong>
            {formatNumber(busy)} of {formatNumber(slots)}
          </strong>{' '}
          run slots in use
        </p>
        <Meter share={busy / slots} tone={busy === slots ? 'timeout' : 'accent'} />
        <p className={styles.none}>
          {readyCount === 1 ? 'One executor' : `${formatNumber(readyCount)} executors`}, shared by all workspaces
        </p>
      </div>
    </Panel>
  );
}
