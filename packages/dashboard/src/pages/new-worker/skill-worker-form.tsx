import { Button, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'react-router';
import { MissingModelNotice } from '../../models/missing-model-notice';
import type { SkillItem } from '../../shell/api';
import { paths, skillPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { useSkillSearch } from '../../skills/use-skill-search';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { SearchSelect } from '../../ui/search-select';
import { useCreateSkillWorker } from '../../workers/use-create-skill-worker';

const TITLE = 'From a skill';
const SEARCH_DEBOUNCE_MS = 200;

/** Creates an agent from a selected skill. */
export function SkillWorkerForm() {
  useTitle(TITLE, [{ to: paths.newWorker, label: 'New worker' }]);
  const [q, setQ] = useState('');
  const [skill, setSkill] = useState<SkillItem | null>(null);
  const [debouncedQuery] = useDebouncedValue(q, SEARCH_DEBOUNCE_MS);
  const results = useSkillSearch(debouncedQuery);
  const createWorker = useCreateSkillWorker();
  function submit() {
    if (skill) createWorker.mutate({ slug: skill.slug, contentHash: skill.content_hash });
  }
  return (
    <>
      <PageHeader
        title={TITLE}
        about="The agent uses a copy of the skill’s current text. Later changes to the skill don’t affect the worker."
      />
      <Stack gap="lg" maw="34rem">
        <Panel title="Choose a skill">
          <FormStack onSubmit={handleSubmit(submit)}>
            <SearchSelect
              label="Skill"
              description="Choose one of your skills or search all skills you can access"
              placeholder="Release notes"
              value={skill && toSkillOption(skill)}
              options={(results.data ?? []).map(toSkillOption)}
              isSearching={results.isFetching}
              onSearch={setQ}
              onChange={(option) => setSkill(results.data?.find(({ slug }) => slug === option?.id) ?? null)}
            />
            {results.error && !results.data && (
              <LoadErrorNotice what="The skills" error={results.error} retry={results.refetch} />
            )}
            {skill ? (
              <Text fz="sm" c="dimmed">
                {skill.description} <Link to={skillPath(skill.slug)}>View skill</Link>
              </Text>
            ) : (
              results.data?.length === 0 &&
              debouncedQuery === '' && (
                <Text fz="sm" c="dimmed">
                  You don’t have any skills yet. <Link to={paths.newSkill}>Create a skill</Link> or search for one
                  shared with you.
                </Text>
              )
            )}
            <Text fz="sm" c="dimmed">
              Next, you’ll choose the worker’s tools, model and budget.
            </Text>
            <MissingModelNotice />
            <ErrorNotice title="Worker not created" error={createWorker.error} />
            <Button type="submit" size="md" loading={createWorker.isPending} disabled={skill === null}>
              Create worker
            </Button>
          </FormStack>
        </Panel>
      </Stack>
    </>
  );
}

const toSkillOption = ({ slug, title, version }: SkillItem) => ({ id: slug, label: title, hint: `version ${version}` });
