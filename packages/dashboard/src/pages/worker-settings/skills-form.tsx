import { Button, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { SkillItem, Worker } from '../../shell/api';
import { useSkillSearch } from '../../skills/use-skill-search';
import { LoadErrorNotice } from '../../ui/notice';
import { type Option, SearchSelect } from '../../ui/search-select';
import { type AgentSkill, AgentSkillDetails, toAgentSkill } from '../../workers/agent-skill-details';
import { canEditWorker } from '../../workers/can-edit-worker';
import { formatSkillPin } from '../../workers/use-create-skill-worker';
import { useVersionFiles } from '../../workers/version-files';
import { type FieldProblem, useSettingsEditor } from './settings-editor';
import { SettingsForm } from './settings-form';
import styles from './tools-form.module.css';

const SKILLS_MAX = 20;
const SEARCH_DEBOUNCE_MS = 200;
const SKILL_FILE = '/SKILL.md';

interface SkillChoice extends AgentSkill {
  /** Its representation in the request. */
  input: string | Worker['skills'][number];
}

/** Selects the skills that an agent loads on demand: published ones and folders of the worker. */
export function SkillsForm({ worker }: { worker: Worker }) {
  const { problems } = useSettingsEditor();
  const [skills, setSkills] = useState<SkillChoice[]>(() => worker.skills.map(toSkillChoice));
  const isEditable = canEditWorker(worker);
  return (
    <SettingsForm
      worker={worker}
      title="Skills"
      about="The agent sees each skill’s name and description, and loads its instructions when needed. When you save, published skills are copied to the worker. Removing a skill doesn’t delete its files on the Code tab."
      isShownInline={(path) => /^skills\.\d{1,2}(\.path)?$/.test(path)}
      parseForm={() => ({ skills: skills.map(({ input }) => input) })}
    >
      {skills.length > 0 ? (
        <ul className="divided rows full-row" aria-label="Skills">
          {skills.map((skill, index) => (
            <li key={getSkillKey(skill)} className={styles.tool}>
              <AgentSkillDetails skill={skill}>
                <SkillProblem problems={problems} index={index} />
              </AgentSkillDetails>
              <span />
              {isEditable && (
                <Button
                  variant="default"
                  aria-label={`Remove ${skill.name}`}
                  onClick={() => setSkills(skills.filter((one) => one !== skill))}
                >
                  Remove
                </Button>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <p className="help-text full-row">No skills yet.</p>
      )}
      {isEditable && skills.length < SKILLS_MAX && (
        <div className="full-row">
          <AddSkillField worker={worker} existingSkills={skills} onAdd={(skill) => setSkills([...skills, skill])} />
        </div>
      )}
    </SettingsForm>
  );
}

function SkillProblem({ problems, index }: { problems: readonly FieldProblem[]; index: number }) {
  const problem = problems.find(({ path }) => path === `skills.${index}` || path === `skills.${index}.path`);
  return (
    problem && (
      <Text fz="xs" c="var(--error)" role="alert">
        {problem.message}
      </Text>
    )
  );
}

interface AddSkillFieldProps {
  worker: Worker;
  existingSkills: readonly SkillChoice[];
  onAdd: (skill: SkillChoice) => void;
}

function AddSkillField({ worker, existingSkills, onAdd }: AddSkillFieldProps) {
  const [q, setQ] = useState('');
  const [debouncedQuery] = useDebouncedValue(q, SEARCH_DEBOUNCE_MS);
  const searchResults = useSkillSearch(debouncedQuery);
  const files = useVersionFiles(worker.id, worker.sha);
  const paths = [...(files.data?.keys() ?? [])].filter((path) => path.endsWith(SKILL_FILE) && path.includes(q));
  const choices = [...paths.map(toFolderChoice), ...(searchResults.data ?? []).map(toPublishedChoice)];
  const availableChoices = choices.filter((one) =>
    existingSkills.every((other) => getSkillKey(other) !== getSkillKey(one)),
  );
  return (
    <>
      <SearchSelect
        key={existingSkills.length}
        label="Add skill"
        description="Choose one of your skills, a saved skill or a folder in this worker that contains a SKILL.md file, or search all skills you can access"
        value={null}
        options={availableChoices.map(toSkillOption)}
        isSearching={searchResults.isFetching || files.isLoading}
        onSearch={setQ}
        onChange={(option) => {
          const choice = availableChoices.find((one) => getSkillKey(one) === option?.id);
          if (choice) onAdd(choice);
        }}
      />
      {searchResults.error && !searchResults.data && (
        <LoadErrorNotice what="The skills" error={searchResults.error} retry={searchResults.refetch} />
      )}
    </>
  );
}

/** Returns the slug of a published skill, or the path of a folder. */
const getSkillKey = ({ slug, path }: AgentSkill): string => slug ?? path ?? '';

const toSkillChoice = (skill: Worker['skills'][number]): SkillChoice => ({ ...toAgentSkill(skill), input: skill });

const toPublishedChoice = ({ slug, description, version, content_hash: contentHash }: SkillItem): SkillChoice => ({
  name: slug,
  description,
  slug,
  version,
  hash: contentHash,
  path: null,
  input: formatSkillPin({ slug, contentHash }),
});

const toFolderChoice = (path: string): SkillChoice => ({
  name: path.slice(0, -SKILL_FILE.length),
  description: 'The name and description are read from the file when you save',
  slug: null,
  version: null,
  hash: null,
  path,
  input: path,
});

const toSkillOption = (skill: SkillChoice): Option => ({
  id: getSkillKey(skill),
  label: skill.name,
  hint: skill.slug === null ? 'in this worker' : `version ${skill.version}`,
});
