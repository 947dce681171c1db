import { Button, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SkillItem, Worker } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { useFoundSkills } from '../../skills/use-found-skills';
import { FailedToLoad } from '../../ui/notice';
import { type Option, SearchSelect } from '../../ui/search-select';
import { type LoadedSkill, LoadedSkillDetails } from '../../workers/loaded-skills';
import { pinOf } from '../../workers/use-skill-worker';
import { versionFiles } from '../../workers/version-files';
import { type FieldProblem, mayEdit, SettingsForm } from './settings-form';
import formStyles from './settings-form.module.css';
import styles from './tools-form.module.css';

const SKILLS_MAX = 20;
const TYPED_MS = 200;
const FILE = '/SKILL.md';

interface Choice extends LoadedSkill {
  /** Its representation in the request. */
  input: string | Worker['skills'][number];
}

/** Selects the skills that an agent loads on demand: published ones and folders of the worker. */
export function SkillsForm({ worker }: { worker: Worker }) {
  const [skills, setSkills] = useState<Choice[]>(() => worker.skills.map(toChoice));
  const isEditable = mayEdit(worker);
  return (
    <SettingsForm
      worker={worker}
      title="Skills"
      about="The agent knows name and description of each, and reads the text when the work asks for it. A published skill is copied when you save, and stays as it is; a removed one leaves its files under Code."
      isShownBeside={(path) => /^skills\.\d{1,2}(\.path)?$/.test(path)}
      read={() => ({ skills: skills.map(({ input }) => input) })}
    >
      {(problems) => (
        <>
          {skills.length > 0 ? (
            <ul className={`${formStyles.wide} ${styles.tools}`} aria-label="Skills">
              {skills.map((skill, at) => (
                <li key={keyOf(skill)} className={styles.tool}>
                  <LoadedSkillDetails skill={skill}>
                    <Problem problems={problems} at={at} />
                  </LoadedSkillDetails>
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
            <p className={`${formStyles.wide} ${formStyles.about}`}>None yet: the agent works on its task alone.</p>
          )}
          {isEditable && skills.length < SKILLS_MAX && (
            <div className={formStyles.wide}>
              <AddSkill worker={worker} taken={skills} onAdd={(skill) => setSkills([...skills, skill])} />
            </div>
          )}
        </>
      )}
    </SettingsForm>
  );
}

function Problem({ problems, at }: { problems: readonly FieldProblem[]; at: number }) {
  const problem = problems.find(({ path }) => path === `skills.${at}` || path === `skills.${at}.path`);
  return (
    problem && (
      <Text fz="xs" c="var(--error)" role="alert">
        {problem.message}
      </Text>
    )
  );
}

interface AddSkillProps {
  worker: Worker;
  taken: readonly Choice[];
  onAdd: (skill: Choice) => void;
}

function AddSkill({ worker, taken, onAdd }: AddSkillProps) {
  const [q, setQ] = useState('');
  const [typed] = useDebouncedValue(q, TYPED_MS);
  const workspaceId = useWorkspace()?.id;
  const found = useFoundSkills(typed);
  const files = useQuery(versionFiles(workspaceId, worker.id, worker.sha));
  const paths = [...(files.data?.keys() ?? [])].filter((path) => path.endsWith(FILE) && path.includes(q));
  const choices = [...paths.map(fromPath), ...(found.data ?? []).map(fromPublished)];
  const free = choices.filter((one) => taken.every((other) => keyOf(other) !== keyOf(one)));
  return (
    <>
      <SearchSelect
        key={taken.length}
        label="Add a skill"
        description="One of yours, one that you saved, words of any that you can read, or a folder of this worker with a SKILL.md"
        value={null}
        options={free.map(toOption)}
        isSearching={found.isFetching || files.isLoading}
        onSearch={setQ}
        onChange={(option) => {
          const choice = free.find((one) => keyOf(one) === option?.id);
          if (choice) onAdd(choice);
        }}
      />
      {found.error && !found.data && <FailedToLoad what="The skills" error={found.error} retry={found.refetch} />}
    </>
  );
}

/** Returns the slug of a published skill, or the path of a folder. */
const keyOf = ({ slug, path }: LoadedSkill): string => slug ?? path ?? '';

const toChoice = (skill: Worker['skills'][number]): Choice => ({
  name: skill.name,
  description: skill.description,
  slug: skill.skill?.split('@')[0] ?? null,
  version: skill.version,
  hash: skill.hash,
  path: skill.path,
  input: skill,
});

const fromPublished = ({ slug, description, version, content_hash: contentHash }: SkillItem): Choice => ({
  name: slug,
  description,
  slug,
  version,
  hash: contentHash,
  path: null,
  input: pinOf({ slug, contentHash }),
});

const fromPath = (path: string): Choice => ({
  name: path.slice(0, -FILE.length),
  description: 'Its name and description are read from the file when you save',
  slug: null,
  version: null,
  hash: null,
  path,
  input: path,
});

const toOption = (skill: Choice): Option => ({
  id: keyOf(skill),
  label: skill.name,
  hint: skill.slug === null ? 'in this worker' : `version ${skill.version}`,
});
