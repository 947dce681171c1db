import { Stack } from '@mantine/core';
import { ArchivePanel } from './archive-panel';
import { AutomationLayout } from './automation-layout';
import { NameForm } from './name-form';
import { PublicLinkPanel } from './public-link-panel';
import { SchedulePanel } from './schedule-panel';

/** Edits everything about an automation but its code. */
export default function AutomationSettingsPage() {
  return (
    <AutomationLayout tab="Settings">
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
    </AutomationLayout>
  );
}
