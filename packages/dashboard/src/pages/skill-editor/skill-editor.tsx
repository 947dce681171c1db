import { Box, Button, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useEffect, useRef } from 'react';
import { Link, useNavigate } from 'react-router';
import { CodeEditor } from '../../code/code-editor';
import { isStatus, type Skill } from '../../shell/api';
import { paths, skillPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { VisibilityField } from '../../skills/visibility';
import { Failure, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Conflict } from './conflict';
import { OpenFile } from './open-file';
import { Preview } from './preview';
import styles from './skill-editor.module.css';
import { useDraft } from './use-draft';
import { useSaveSkill } from './use-save-skill';

const TYPING_MS = 300;

/** Edits a skill: its fields above, its text beside a preview. */
export function SkillEditor({ opened }: { opened: Skill | null }) {
  const navigate = useNavigate();
  const { skill, draft, change, changed, isBack, rebase, forget } = useDraft(opened);
  const [shown] = useDebouncedValue(draft, TYPING_MS);
  const form = useRef<HTMLFormElement>(null);
  const save = useSaveSkill(skill, (saved) => {
    const [warning] = saved.warnings ?? [];
    toast(warning ? `Saved. Of the front matter, ${warning}` : `${saved.title} is saved`);
    forget();
    navigate(skillPath(saved.slug), { replace: true });
  });
  useKeptFromLeaving(changed);

  const text = (name: 'title' | 'description' | 'tags' | 'license' | 'message') => ({
    value: draft[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => change({ [name]: event.currentTarget.value }),
    autoComplete: 'off',
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate(draft);
  }

  return (
    <form ref={form} onSubmit={submit}>
      <PageHead
        title={skill ? `Edit ${skill.title}` : 'New skill'}
        about={
          skill
            ? `Saving makes version ${skill.version + 1}; earlier ones stay.`
            : 'Markdown, with front matter if your agents want it.'
        }
        actions={
          <>
            <Button
              component={Link}
              to={skill ? skillPath(skill.slug) : paths.skills}
              variant="default"
              onClick={forget}
            >
              Cancel
            </Button>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={!changed || draft.text.trim() === ''}
              title="Ctrl+S in the text"
            >
              {skill ? 'Save version' : draft.visibility === 'private' ? 'Save skill' : 'Publish skill'}
            </Button>
          </>
        }
      />
      {isStatus(save.error, 409) && skill ? (
        <Conflict
          skill={skill}
          text={draft.text}
          onSeen={(theirs) => {
            rebase(theirs);
            save.reset();
          }}
        />
      ) : (
        <Failure title="Nothing was saved" error={save.error} />
      )}
      {isBack && changed && (
        <Notice tone="info">Your unsaved draft was restored. Cancel discards it.</Notice>
      )}
      <div className={styles.fields}>
        <TextInput label="Title" placeholder="Review a change" maxLength={200} {...text('title')} />
        <TextInput
          label="Description"
          placeholder="What it is good for, and when to use it"
          maxLength={1024}
          {...text('description')}
        />
        <TextInput label="Tags" placeholder="code, review" {...text('tags')} />
        <TextInput label="License" placeholder="MIT" maxLength={1024} {...text('license')} />
        <VisibilityField shared value={draft.visibility} onChange={(visibility) => change({ visibility })} />
        {skill && (
          <TextInput label="What changed" placeholder="For the list of versions" maxLength={500} {...text('message')} />
        )}
      </div>
      <div className={styles.work}>
        <section className={styles.side} aria-label="Text">
          <Group gap={0} justify="space-between" wrap="nowrap" mih="1.875rem">
            <Box component="h2" fz="sm" fw={600}>
              Text
            </Box>
            <OpenFile onText={(opened) => change({ text: opened })} />
          </Group>
          <CodeEditor
            label="Text of the skill"
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
          <Preview
            title={shown.title}
            text={shown.text}
            url={skill?.url}
            onOutline={() => change({ title: draft.title || OUTLINE_TITLE, text: OUTLINE })}
          />
        </section>
      </div>
    </form>
  );
}

/** Asks for confirmation before the page is closed with unsaved changes. */
function useKeptFromLeaving(isKept: boolean): void {
  useEffect(() => {
    if (!isKept) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isKept]);
}

const OUTLINE_TITLE = 'Review a change';
const OUTLINE = `Use it before a change is merged.

## Before you begin

- Read the description and the tests first.

## Steps

1. Run the change.
2. Ask about whatever you had to read twice.

## Done when

- A reader who did not write it can say what it does.
`;
