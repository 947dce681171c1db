import { Stack } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'react-router';
import type { Worker } from '../../shell/api';
import { Columns } from '../../ui/columns';
import { WorkerLayout } from '../../workers/worker-layout';
import { AboutForm } from './about-form';
import { ApprovalsForm } from './approvals-form';
import { BodyPlaceholdersForm } from './body-placeholders-form';
import { DependenciesForm } from './dependencies-form';
import { ExposeForm } from './expose-form';
import { FailureForm } from './failure-form';
import { ItemsForm } from './items-form';
import { LimitsForm } from './limits-form';
import { ModelForm } from './model-form';
import { NetworkForm } from './network-form';
import { PackagesForm } from './packages-form';
import { RemovalPanel } from './removal-panel';
import { ResultForm } from './result-form';
import { RetryForm } from './retry-form';
import { SettingsEditor } from './settings-editor';
import styles from './settings-form.module.css';
import { SkillsForm } from './skills-form';
import { ToolsForm } from './tools-form';
import { VisibilityPanel } from './visibility-panel';

/** Edits everything about a worker but its code. */
export default function WorkerSettingsPage() {
  return (
    <WorkerLayout tab="Settings">
      {(worker) => (
        <SettingsEditor worker={worker}>
          <WorkerSettings worker={worker} />
        </SettingsEditor>
      )}
    </WorkerLayout>
  );
}

type SettingsSection = [id: string, label: string, forms: ReactNode];

function WorkerSettings({ worker }: { worker: Worker }) {
  const isAgent = worker.runner === 'agent';
  const parts: SettingsSection[] = [
    [
      'general',
      'General',
      <>
        <AboutForm worker={worker} />
        <VisibilityPanel worker={worker} />
      </>,
    ],
    ...(isAgent ? [buildAgentSection(worker)] : []),
    [
      'inputs',
      'Inputs and outputs',
      <>
        <ItemsForm worker={worker} kind="inputs" />
        {isAgent && <ResultForm worker={worker} />}
        <ItemsForm worker={worker} kind="outputs" />
      </>,
    ],
    ...(isAgent
      ? []
      : [['packages', 'Packages', <PackagesForm key="packages" worker={worker} />] satisfies SettingsSection]),
    [
      'limits',
      'Limits and retries',
      <>
        <LimitsForm worker={worker} />
        <RetryForm worker={worker} />
        <FailureForm worker={worker} />
      </>,
    ],
    ['approvals', 'Approvals', <ApprovalsForm key="approvals" worker={worker} />],
    [
      'access',
      'Access',
      <>
        <DependenciesForm worker={worker} />
        <ExposeForm worker={worker} />
        <BodyPlaceholdersForm worker={worker} />
        <NetworkForm worker={worker} />
      </>,
    ],
    ['removal', 'Archive or delete', <RemovalPanel key="removal" worker={worker} />],
  ];
  return (
    <Columns widths="11rem minmax(0, 1fr)" below="64rem">
      <SectionLinks parts={parts} />
      <Stack gap="lg" maw="56rem" style={{ scrollMarginTop: '5rem' }}>
        {parts.map(([id, , forms]) => (
          <Stack key={id} id={id} gap="lg" maw="56rem" style={{ scrollMarginTop: '5rem' }}>
            {forms}
          </Stack>
        ))}
      </Stack>
    </Columns>
  );
}

const buildAgentSection = (worker: Worker): SettingsSection => [
  'agent',
  'Model, tools and skills',
  <>
    <ModelForm worker={worker} />
    <ToolsForm worker={worker} />
    <SkillsForm worker={worker} />
  </>,
];

/** Links to the parts, beside them on a wide screen and above them on a narrow one. */
function SectionLinks({ parts }: { parts: SettingsSection[] }) {
  const { hash } = useLocation();
  const currentPartId = parts.find(([id]) => hash === `#${id}`)?.[0] ?? parts[0]?.[0];
  // The browser looked for the anchor before it was rendered.
  useEffect(() => {
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <nav className={styles.parts} aria-label="Settings sections">
      {parts.map(([id, label]) => (
        <a key={id} href={`#${id}`} className={styles.part} aria-current={id === currentPartId ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
