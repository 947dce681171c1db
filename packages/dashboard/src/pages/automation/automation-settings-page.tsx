import { Stack } from '@mantine/core';
import { ArchivePanel } from './archive';
import { AutomationFrame } from './automation-frame';
import { NameForm } from './name-form';
import { PublicLinkPanel } from './public-link';
import { SchedulePanel } from './schedule-panel';

/** Edits everything about an automation but its code. */
export default function AutomationSettingsPage() {
  return (
    <AutomationFrame tab="Settings">
      {(automation, { role }) => {
        const canEdit = role !== 'viewer';
        return (
          <Stack gap="lg" maw="48rem">
            <NameForm automation={automation} canEdit={canEdit} />
            <SchedulePanel automation={automation} canEdit={canEdit} />
            <PublicLinkPanel automation={automation} canEdit={canEdit} />
            {canEdit && <ArchivePanel automation={automation} />}
          </Stack>
        );
      }}
    </AutomationFrame>
  );
}
