import { Box, Stack, Text } from '@mantine/core';
import { ViewerNotice } from '../../accounts/viewer-notice';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';

const PROGRAM_KINDS = [
  {
    title: 'Worker',
    purpose: 'Code or an agent that runs unattended, maintained by your team.',
    examples: [
      'Send a sales report every weekday at 9:00',
      'Forward each new order from a webhook to the warehouse',
      'Get a manager’s approval before issuing a refund',
    ],
    features: [
      'Triggers: schedules, webhooks and events',
      'Secrets, connections and shared files (contexts)',
      'Approvals, retries and limits',
      'Versions, evaluations and alerts',
      'An agent with a task and tools instead of code',
    ],
    action: 'New worker',
    to: paths.newWorker,
  },
  {
    title: 'Automation',
    purpose: 'A program with a form that others can fill in and run without having to know the code.',
    examples: [
      'Convert a bank export to your accounting format',
      'Calculate a quote from a few numbers',
      'Create name badges from a guest list',
    ],
    features: [
      'A page with a form generated from the inputs',
      'A URL for your workspace, or for anyone with the link',
      'Results on the page: numbers, tables, images and files',
      'A single schedule and its own secrets',
      'Versions you can roll back to',
    ],
    action: 'New automation',
    to: paths.newAutomation,
  },
];

/** Explains when to use a worker and when an automation, and leads to either. */
export default function CreatePage() {
  useTitle('Create');
  const role = useWorkspace()?.role;
  return (
    <>
      <PageHeader
        title="Create"
        about="Workers and automations are Python programs with a run() function. The difference is how they start."
      />
      <Stack gap="lg" maw="60rem">
        {role === 'viewer' && <ViewerNotice action="create workers or automations" />}
        <Box className="auto-fit" __vars={{ '--column': '19rem' }} style={{ gap: 'var(--space-5)' }}>
          {PROGRAM_KINDS.map((kind) => (
            <ProgramKindPanel key={kind.title} kind={kind} canCreate={role !== undefined && role !== 'viewer'} />
          ))}
        </Box>
        <Text fz="sm" c="dimmed">
          Not sure? Start with a worker. You can turn its code into an automation later with{' '}
          <strong>Publish as a page</strong>.
        </Text>
      </Stack>
    </>
  );
}

interface ProgramKindPanelProps {
  kind: (typeof PROGRAM_KINDS)[number];
  canCreate: boolean;
}

function ProgramKindPanel({
  kind: { title, purpose, examples, features, action, to },
  canCreate,
}: ProgramKindPanelProps) {
  return (
    <Panel title={title}>
      <Stack gap="md">
        <p>{purpose}</p>
        <BulletList title="Examples" items={examples} />
        <BulletList title="Features" items={features} />
        {canCreate && (
          <LinkButton to={to} fullWidth>
            {action}
          </LinkButton>
        )}
      </Stack>
    </Panel>
  );
}

function BulletList({ title, items }: { title: string; items: string[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <Box mt={4} fz="sm" c="dimmed">
        <ul style={{ paddingInlineStart: '1.25rem' }}>
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </Box>
    </div>
  );
}
