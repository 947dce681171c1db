import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Link } from 'react-router';
import { AutomationStatusChip } from '../../automations/automation-status';
import type { Page } from '../../shell/api';
import { LinkTabs } from '../../shell/link-tabs';
import { automationCodePath, automationPath, automationSettingsPath, paths } from '../../shell/paths';
import { CheckIcon, CopyIcon } from '../../ui/icons';
import { PauseButton } from './pause-button';

type AutomationSummary = Pick<
  Page,
  'id' | 'name' | 'description' | 'status' | 'currentVersion' | 'visibility' | 'url' | 'access'
>;

/** Heads each page of one automation; members also get tabs. */
export function AutomationHeader({ page }: { page: AutomationSummary }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const isMember = page.access === 'member';
  return (
    <>
      <Stack gap="sm" align="flex-start" mb="lg">
        {isMember && (
          <Anchor component={Link} to={paths.automations} fz="sm" c="dimmed" td="underline">
            All automations
          </Anchor>
        )}
        <h1>{page.name}</h1>
        {page.description && (
          <Text className="pre-wrap wrap-anywhere" maw="68ch" c="dimmed">
            {page.description}
          </Text>
        )}
        <Group gap="8px 12px" fz="sm" c="dimmed">
          <AutomationStatusChip status={page.status} />
          <span>Version {page.currentVersion}</span>
          <span>{page.visibility === 'public' ? 'Anyone with the link can run it' : 'Members only'}</span>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={clipboard.copied ? <CheckIcon /> : <CopyIcon />}
            onClick={() => clipboard.copy(page.url)}
          >
            <span aria-live="polite">{clipboard.copied ? 'Link copied' : 'Copy link'}</span>
          </Button>
          {isMember && <PauseButton automation={page} />}
        </Group>
      </Stack>
      {isMember && (
        <LinkTabs
          label="Automation"
          tabs={[
            { to: automationPath(page.id), label: 'Run' },
            { to: automationCodePath(page.id), label: 'Code' },
            { to: automationSettingsPath(page.id), label: 'Settings' },
          ]}
        />
      )}
    </>
  );
}
