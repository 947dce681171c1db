import { Box, Button, Center, Group, Stack, Text } from '@mantine/core';
import { type ComponentType, useState } from 'react';
import { Link } from 'react-router';
import { newWorkerPath, paths, SKILL_TEMPLATE_ID } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { EmptyState } from '../../ui/empty-state';
import {
  AgentIcon,
  ApprovalsIcon,
  ChatIcon,
  CodeIcon,
  DataIcon,
  MonitoringIcon,
  ReportIcon,
  SkillsIcon,
} from '../../ui/icons';
import linkCard from '../../ui/link-card.module.css';
import { PageHeader } from '../../ui/page-header';
import { SearchField } from '../../ui/search-field';
import { isAgent, type TemplateCategory, type WorkerTemplate } from '../../workers/templates/template';
import { TEMPLATES } from '../../workers/templates/template-list';
import { describeTemplateTrigger } from './describe-template-trigger';
import { EMPTY_TEMPLATE } from './empty-template';
import styles from './new-worker.module.css';

const CATEGORIES: Record<TemplateCategory, { label: string; icon: ComponentType }> = {
  reports: { label: 'Reports', icon: ReportIcon },
  data: { label: 'Data', icon: DataIcon },
  messages: { label: 'Messages', icon: ChatIcon },
  approvals: { label: 'Approvals', icon: ApprovalsIcon },
  monitoring: { label: 'Monitoring', icon: MonitoringIcon },
  agents: { label: 'Agents', icon: AgentIcon },
};

const FILTERS = [['all', 'All'], ...Object.entries(CATEGORIES).map(([id, { label }]) => [id, label])] as const;

interface TemplateOption extends Pick<WorkerTemplate, 'id' | 'name' | 'about' | 'category'> {
  icon: ComponentType;
  starts: string;
  /** The requirements of its first run; null: none. */
  needs: string | null;
  /** Lower case, for the search. */
  words: string;
  /** It has to be filled in first and is not ready to run. */
  isBlank: boolean;
}

function toTemplateOption(template: WorkerTemplate): TemplateOption {
  const { id, name, about, category, tags = [] } = template;
  return {
    id,
    name,
    about,
    ...(category && { category }),
    icon: category ? CATEGORIES[category].icon : CodeIcon,
    starts: describeTemplateTrigger(template),
    needs: describeRequirements(template),
    words: [name, about, ...tags].join(' ').toLowerCase(),
    isBlank: template === EMPTY_TEMPLATE,
  };
}

function describeRequirements(template: WorkerTemplate): string | null {
  const connections = (template.connections ?? []).map((name) => `the ${name} connection`);
  const needs = [...(isAgent(template) ? ['a model'] : []), ...connections];
  return needs.length ? `Needs ${needs.join(' and ')}` : null;
}

const SKILL_OPTION: TemplateOption = {
  id: SKILL_TEMPLATE_ID,
  category: 'agents',
  icon: SkillsIcon,
  name: 'From a skill',
  about: 'Turns a skill your team maintains into a task for an agent.',
  starts: 'When a member runs it',
  needs: 'Needs a model',
  words: 'from a skill agent text task',
  isBlank: true,
};

const TEMPLATE_OPTIONS: TemplateOption[] = [
  ...[...TEMPLATES.filter((one) => !isAgent(one)), EMPTY_TEMPLATE].map(toTemplateOption),
  ...TEMPLATES.filter(isAgent).map(toTemplateOption),
  SKILL_OPTION,
];

/** Lists all templates, filtered by category and by a search. */
export function TemplateGallery() {
  useTitle('New worker');
  const [category, setCategory] = useState<string>('all');
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = TEMPLATE_OPTIONS.filter(
    (one) => (category === 'all' || one.category === category) && words.every((word) => one.words.includes(word)),
  );
  function clear() {
    setCategory('all');
    setSearch('');
  }
  return (
    <>
      <PageHeader
        title="New worker"
        about={
          <span>
            A worker runs on a schedule, in response to a webhook or event, or manually. For a form that others fill in,
            create an <Link to={paths.newAutomation}>automation</Link>.{' '}
            <Link to={paths.create}>Compare workers and automations</Link>
          </span>
        }
      />
      <Stack gap="lg">
        <Stack component="search" gap="sm" maw="22rem">
          <SearchField label="Search templates" value={search} onChange={setSearch} />
          <Group gap="xs" role="group" aria-label="Category">
            {FILTERS.map(([id, label]) => (
              <Button
                key={id}
                size="compact-sm"
                variant="default"
                aria-pressed={category === id}
                onClick={() => setCategory(id)}
              >
                {label}
              </Button>
            ))}
          </Group>
        </Stack>
        <p className="visually-hidden" role="status">
          {matches.length === 1 ? '1 template' : `${matches.length} templates`}
        </p>
        {matches.length === 0 ? (
          <EmptyState title="No matching templates" level={2}>
            <Button variant="default" onClick={clear}>
              Show all templates
            </Button>
          </EmptyState>
        ) : (
          <Box
            component="ul"
            display="grid"
            style={{ gridTemplateColumns: 'repeat(auto-fill, minmax(min(100%, 19rem), 1fr))', gap: 'var(--space-4)' }}
          >
            {matches.map((choice) => (
              <TemplateCard key={choice.id} choice={choice} />
            ))}
          </Box>
        )}
      </Stack>
    </>
  );
}

function TemplateCard({
  choice: { id, icon: TemplateIcon, name, about, starts, needs, isBlank },
}: {
  choice: TemplateOption;
}) {
  return (
    <li className={`${linkCard.card} ${styles.card} surface`} data-own={isBlank || undefined}>
      <Group gap="sm" wrap="nowrap">
        <Center component="span" flex="none" w="2.25rem" h="2.25rem" bdrs={8} bg="var(--sunken)" c="var(--accent)">
          <TemplateIcon />
        </Center>
        <Box component="h2" fz="md">
          <Link className="stretched-link" to={newWorkerPath(id)}>
            {name}
          </Link>
        </Box>
      </Group>
      <Text fz="sm" c="dimmed">
        {about}
      </Text>
      <Group component="p" gap="4px 12px" align="stretch" justify="space-between" mt="xs" fz="sm" fw={600} c="dimmed">
        {starts}
        {needs && (
          <Text span fw={400}>
            {needs}
          </Text>
        )}
      </Group>
    </li>
  );
}
