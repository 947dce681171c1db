import { Archive } from './archive';
import { AutomationFrame } from './automation-frame';
import styles from './automation-settings-page.module.css';
import { NameForm } from './name-form';
import { PublicLink } from './public-link';
import { SchedulePanel } from './schedule-panel';

/** Edits everything about an automation but its code. */
export default function AutomationSettingsPage() {
  return (
    <AutomationFrame tab="Settings" columns={styles.panels}>
      {(automation, { role }) => {
        const mayChange = role !== 'viewer';
        return (
          <div className={styles.panels}>
            <NameForm automation={automation} mayChange={mayChange} />
            <SchedulePanel automation={automation} mayChange={mayChange} />
            <PublicLink automation={automation} mayChange={mayChange} />
            {mayChange && <Archive automation={automation} />}
          </div>
        );
      }}
    </AutomationFrame>
  );
}
