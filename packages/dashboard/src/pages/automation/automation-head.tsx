import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Link } from 'react-router';
import { AutomationStatusChip } from '../../automations/automation-status';
import type { Page } from '../../shell/api';
import { paths } from '../../shell/paths';
import { CheckIcon, CopyIcon } from '../../ui/icons';
import layout from '../../ui/page.module.css';
import styles from './automation-page.module.css';

export function AutomationHead({ page }: { page: Page }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <div className={layout.head}>
      {page.access === 'member' && (
        <Link to={paths.home} className={styles.back}>
          All automations
        </Link>
      )}
      <h1>{page.name}</h1>
      {page.description && <p className={styles.description}>{page.description}</p>}
      <div className={layout.facts}>
        <AutomationStatusChip status={page.status} />
        <span>Version {page.currentVersion}</span>
        <span>{page.visibility === 'public' ? 'Anyone with the link may run it' : 'Members only'}</span>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={clipboard.copied ? <CheckIcon /> : <CopyIcon />}
          onClick={() => clipboard.copy(page.url)}
        >
          <span aria-live="polite">{clipboard.copied ? 'Link copied' : 'Copy link'}</span>
        </Button>
      </div>
    </div>
  );
}
