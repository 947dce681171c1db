import { Button, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { Link } from 'react-router';
import { ModelMissing } from '../../models/model-missing';
import type { SkillItem } from '../../shell/api';
import { paths, skillPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { useFoundSkills } from '../../skills/use-found-skills';
import { FormStack } from '../../ui/form';
import { FailedToLoad, Failure } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Panel } from '../../ui/panel';
import { SearchSelect } from '../../ui/search-select';
import { useSkillWorker } from '../../workers/use-skill-worker';
import styles from './new-worker.module.css';

const TITLE = 'From a skill';
const TYPED_MS = 200;

/** Creates an agent from a selected skill. */
export function FromSkill() {
  useTitle(TITLE, [{ to: paths.newWorker, label: 'New worker' }]);
  const [q, setQ] = useState('');
  const [skill, setSkill] = useState<SkillItem | null>(null);
  const [typed] = useDebouncedValue(q, TYPED_MS);
  const found = useFoundSkills(typed);
  const make = useSkillWorker();
  function submit(event: FormEvent) {
    event.preventDefault();
    if (skill) make.mutate({ slug: skill.slug, contentHash: skill.content_hash });
  }
  return (
    <>
      <PageHead
        title={TITLE}
        about="An agent works on the text of a skill as it is now. A change of the skill changes no worker by itself."
      />
      <Stack gap="lg" maw="34rem">
        <Panel title="Choose a skill">
          <FormStack onSubmit={submit}>
            <SearchSelect
              label="Skill"
              description="One of yours, or words of any that you can read"
              placeholder="Release notes"
              value={skill && optionOf(skill)}
              options={(found.data ?? []).map(optionOf)}
              isSearching={found.isFetching}
              onSearch={setQ}
              onChange={(option) => setSkill(found.data?.find(({ slug }) => slug === option?.id) ?? null)}
            />
            {found.error && !found.data && <FailedToLoad what="The skills" error={found.error} retry={found.refetch} />}
            {skill ? (
              <p className={styles.about}>
                {skill.description} <Link to={skillPath(skill.slug)}>Read it</Link>
              </p>
            ) : (
              found.data?.length === 0 &&
              typed === '' && (
                <p className={styles.about}>
                  You have no skills yet. <Link to={paths.newSkill}>Write one</Link>, or search for one that is shared
                  with you.
                </p>
              )
            )}
            <p className={styles.about}>You choose its tools, its model and its budget next.</p>
            <ModelMissing />
            <Failure title="The worker was not created" error={make.error} />
            <Button type="submit" size="md" loading={make.isPending} disabled={skill === null}>
              Create worker
            </Button>
          </FormStack>
        </Panel>
      </Stack>
    </>
  );
}

const optionOf = ({ slug, title, version }: SkillItem) => ({ id: slug, label: title, hint: `version ${version}` });
