import { ArchivePanel } from './archive';
import { AutomationFrame } from './automation-frame';
import styles from './automation-settings-page.module.css';
import { NameForm } from './name-form';
import { PublicLinkPanel } from './public-link';
import { SchedulePanel } from './schedule-panel';

/** Edits everything about an automation but its code. */
export default function AutomationSettingsPage() {
  return (
    <AutomationFrame tab="Settings" columns={styles.panels}>
      {(automation, { role }) => {
        const canEdit = role !== 'viewer';
        return (
          <div className={styles.panels}>
            <NameForm automation={automation} canEdit={canEdit} />
            <SchedulePanel automation={automation} canEdit={canEdit} />
            <PublicLinkPanel automation={automation} canEdit={canEdit} />
            {canEdit && <ArchivePanel automation={automation} />}
          </div>
        );
      }}
    </AutomationFrame>
  );
}
