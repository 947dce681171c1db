import type { Page } from '../../shell/api';
import { Notice } from '../../ui/notice';
import styles from './automation-page.module.css';

/** The reason why Run is disabled or would fail, and the people who can change that. Nothing where it would work. */
export function WhyNotRun({ page }: { page: Page }) {
  const missing = page.missingSecrets ?? [];
  if (page.status !== 'active') {
    return (
      <div className={styles.why}>
        <Notice tone="info" title={`This automation is ${page.status}`}>
          It can’t run until somebody makes it active again. Its past runs stay.
        </Notice>
      </div>
    );
  }
  if (missing.length > 0) {
    return (
      <div className={styles.why}>
        <Notice tone="info" title={missing.length === 1 ? 'A secret is missing' : 'Secrets are missing'}>
          {`Runs will fail until an admin of the workspace sets ${missing.join(', ')}.`}
        </Notice>
      </div>
    );
  }
  return page.canRun ? null : (
    <div className={styles.why}>
      <Notice tone="info" title="You can look, but not run">
        Your role in this workspace is viewer. Ask an admin to make you a member.
      </Notice>
    </div>
  );
}
