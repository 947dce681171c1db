import { Stack } from '@mantine/core';
import { type ComponentType, useEffect } from 'react';
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
import { InputsForm, OutputsForm } from './items-form';
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

interface SettingsSection {
  id: string;
  label: string;
  forms: ComponentType<{ worker: Worker }>[];
  /** Absent: the section of every worker. */
  runner?: Worker['runner'];
}

const SECTIONS: SettingsSection[] = [
  { id: 'general', label: 'General', forms: [AboutForm, VisibilityPanel] },
  { id: 'agent', label: 'Model, tools and skills', forms: [ModelForm, ToolsForm, SkillsForm], runner: 'agent' },
  { id: 'inputs', label: 'Inputs and outputs', forms: [InputsForm, ResultForm, OutputsForm] },
  { id: 'packages', label: 'Packages', forms: [PackagesForm], runner: 'python' },
  { id: 'limits', label: 'Limits and retries', forms: [LimitsForm, RetryForm, FailureForm] },
  { id: 'approvals', label: 'Approvals', forms: [ApprovalsForm] },
  { id: 'access', label: 'Access', forms: [DependenciesForm, ExposeForm, BodyPlaceholdersForm, NetworkForm] },
  { id: 'removal', label: 'Archive or delete', forms: [RemovalPanel] },
];

function WorkerSettings({ worker }: { worker: Worker }) {
  const sections = SECTIONS.filter(({ runner = worker.runner }) => runner === worker.runner);
  return (
    <Columns widths="11rem minmax(0, 1fr)" below="64rem">
      <SectionLinks sections={sections} />
      <Stack gap="lg" maw="56rem">
        {sections.map(({ id, forms }) => (
          <Stack key={id} id={id} gap="lg" style={{ scrollMarginTop: '5rem' }}>
            {forms.map((Form, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the forms of a section never change.
              <Form key={index} worker={worker} />
            ))}
          </Stack>
        ))}
      </Stack>
    </Columns>
  );
}

/** Links to the sections, beside them on a wide screen and above them on a narrow one. */
function SectionLinks({ sections }: { sections: SettingsSection[] }) {
  const { hash } = useLocation();
  const currentSection = sections.find(({ id }) => hash === `#${id}`) ?? sections[0];
  // The browser looked for the anchor before it was rendered.
  useEffect(() => {
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <nav className={styles.parts} aria-label="Settings sections">
      {sections.map((section) => (
        <a
          key={section.id}
          href={`#${section.id}`}
          className={styles.part}
          aria-current={section === currentSection ? 'true' : undefined}
        >
          {section.label}
        </a>
      ))}
    </nav>
  );
}
