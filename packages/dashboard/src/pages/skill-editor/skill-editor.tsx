import { Box, Button, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useRef } from 'react';
import { useNavigate } from 'react-router';
import { CodeEditor } from '../../code/code-editor';
import { hasErrorStatus, type Skill } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { paths, skillPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { VisibilityField } from '../../skills/visibility-field';
import { Columns } from '../../ui/columns';
import { handleSubmit } from '../../ui/form';
import { ErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { useConfirmLeave } from '../../ui/use-confirm-leave';
import { OpenFileButton } from './open-file-button';
import { SkillConflict } from './skill-conflict';
import styles from './skill-editor.module.css';
import { SkillPreview } from './skill-preview';
import { useSaveSkill } from './use-save-skill';
import { useSkillDraft } from './use-skill-draft';

const PREVIEW_DEBOUNCE_MS = 300;

/** Edits a skill: its fields above, its text beside a preview. */
export function SkillEditor({ initialSkill }: { initialSkill: Skill | null }) {
  const navigate = useNavigate();
  const { skill, draft, change, changed, isBack: isRestored, rebase, forget } = useSkillDraft(initialSkill);
  const [previewDraft] = useDebouncedValue(draft, PREVIEW_DEBOUNCE_MS);
  const form = useRef<HTMLFormElement>(null);
  const save = useSaveSkill(skill, (savedSkill) => {
    const [warning] = savedSkill.warnings ?? [];
    toast(warning ? `Saved. Front matter: ${warning}` : `${savedSkill.title} saved`);
    forget();
    navigate(skillPath(savedSkill.slug), { replace: true });
  });
  useConfirmLeave(changed);

  const fieldProps = (name: 'title' | 'description' | 'tags' | 'license' | 'message') => ({
    value: draft[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => change({ [name]: event.currentTarget.value }),
    autoComplete: 'off',
  });

  return (
    <form ref={form} onSubmit={handleSubmit(() => save.mutate(draft))}>
      <PageHeader
        title={skill ? `Edit ${skill.title}` : 'New skill'}
        about={
          skill
            ? `Saving creates version ${skill.version + 1}. Earlier versions are kept.`
            : 'Write in Markdown, with optional front matter.'
        }
        actions={
          <>
            <LinkButton to={skill ? skillPath(skill.slug) : paths.skills} variant="default" onClick={forget}>
              Cancel
            </LinkButton>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={!changed || draft.text.trim() === ''}
              title="Ctrl+S in the editor"
            >
              {skill ? 'Save version' : draft.visibility === 'private' ? 'Save skill' : 'Publish skill'}
            </Button>
          </>
        }
      />
      {hasErrorStatus(save.error, 409) && skill ? (
        <SkillConflict
          skill={skill}
          text={draft.text}
          onAccept={(theirs) => {
            rebase(theirs);
            save.reset();
          }}
        />
      ) : (
        <ErrorNotice title="Skill not saved" error={save.error} />
      )}
      {isRestored && changed && (
        <Notice tone="info">Your unsaved draft was restored. Select Cancel to discard it.</Notice>
      )}
      <div className={styles.fields}>
        <TextInput label="Title" placeholder="Review a change" maxLength={200} {...fieldProps('title')} />
        <TextInput
          label="Description"
          placeholder="What it does and when to use it"
          maxLength={1024}
          {...fieldProps('description')}
        />
        <TextInput label="Tags" placeholder="code, review" {...fieldProps('tags')} />
        <TextInput label="License" placeholder="MIT" maxLength={1024} {...fieldProps('license')} />
        <VisibilityField shared value={draft.visibility} onChange={(visibility) => change({ visibility })} />
        {skill && (
          <TextInput
            label="Change message"
            placeholder="Shown in the version history"
            maxLength={500}
            {...fieldProps('message')}
          />
        )}
      </div>
      <Columns widths="minmax(0, 1fr) minmax(0, 1fr)">
        <section className={styles.side} aria-label="Text">
          <Group gap={0} justify="space-between" wrap="nowrap" mih="1.875rem">
            <Box component="h2" fz="sm" fw={600}>
              Text
            </Box>
            <OpenFileButton onText={(fileText) => change({ text: fileText })} />
          </Group>
          <CodeEditor
            label="Skill text"
            path="SKILL.md"
            height="fill"
            value={draft.text}
            onChange={(value) => change({ text: value })}
            onSave={() => form.current?.requestSubmit()}
          />
        </section>
        <section className={styles.side} aria-label="Preview">
          <Group gap={0} justify="space-between" wrap="nowrap" mih="1.875rem">
            <Box component="h2" fz="sm" fw={600}>
              Preview
            </Box>
          </Group>
          <SkillPreview
            title={previewDraft.title}
            text={previewDraft.text}
            url={skill?.url}
            onOutline={() => change({ title: draft.title || OUTLINE_TITLE, text: OUTLINE })}
          />
        </section>
      </Columns>
    </form>
  );
}

const OUTLINE_TITLE = 'Review a change';
const OUTLINE = `Use this before merging a change.

## Before you begin

- Read the description and the tests first.

## Steps

1. Run the changed code.
2. Ask about anything that’s unclear.

## Done when

- A person who didn’t write the change can explain what it does.
`;
