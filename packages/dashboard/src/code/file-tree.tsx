import { Box, Group, Stack, Text } from '@mantine/core';
import { type FormEvent, useId, useState } from 'react';
import { FormStack } from '../ui/form';
import { CrossIcon, DownIcon } from '../ui/icons';
import styles from './file-tree.module.css';
import type { ChangeKind } from './files';
import { FileIcon, PlusIcon, RenameIcon } from './icons';
import { buildFolderTree, type Folder } from './tree';

export interface FileTreeProps {
  /** Names the list for screen readers. */
  label: string;
  paths: string[];
  selected: string | null;
  onSelect: (path: string) => void;
  changes?: ReadonlyMap<string, ChangeKind>;
  /** Number of problems in each file, by path. */
  problems?: ReadonlyMap<string, number>;
  /** Absent: the tree is read-only. */
  edit?:
    | {
        /** Describes the problem with a path; null for a valid one. */
        validate: (path: string) => string | null;
        onAdd: (path: string) => void;
        onRename: (from: string, to: string) => void;
        onDelete: (path: string) => void;
        /** A file that keeps its name and stays: the one that is run. */
        keeps?: string;
      }
    | undefined;
}

/** Lists folders and files, with the actions for the selected one. */
export function FileTree({ label, paths, selected, onSelect, changes, problems, edit }: FileTreeProps) {
  const [pathFormMode, setPathFormMode] = useState<'add' | 'rename' | null>(null);
  const canChange = selected !== null && selected !== edit?.keeps && changes?.get(selected) !== 'deleted';
  const folder = selected?.includes('/') ? selected.slice(0, selected.lastIndexOf('/') + 1) : '';
  return (
    <Stack component="nav" gap="xs" miw={0} fz="sm" aria-label={label}>
      {edit && (
        <Group gap={4} justify="space-between" wrap="nowrap" mih="2rem">
          <button type="button" className={styles.action} onClick={() => setPathFormMode('add')}>
            <PlusIcon /> New file
          </button>
          {canChange && (
            <Group component="span" gap={4} wrap="nowrap">
              <button
                type="button"
                className={styles.action}
                aria-label={`Rename ${selected}`}
                title="Rename"
                onClick={() => setPathFormMode('rename')}
              >
                <RenameIcon />
              </button>
              <button
                type="button"
                className={styles.action}
                aria-label={`Delete ${selected}`}
                title="Delete"
                onClick={() => edit.onDelete(selected)}
              >
                <CrossIcon />
              </button>
            </Group>
          )}
        </Group>
      )}
      {edit && pathFormMode && (
        <PathForm
          key={pathFormMode}
          label={pathFormMode === 'add' ? 'New file path' : `New path for ${selected}`}
          initialPath={pathFormMode === 'add' ? folder : (selected ?? '')}
          validate={edit.validate}
          onCancel={() => setPathFormMode(null)}
          onDone={(path) => {
            if (pathFormMode === 'add') edit.onAdd(path);
            else if (selected !== null && path !== selected) edit.onRename(selected, path);
            setPathFormMode(null);
          }}
        />
      )}
      <FolderEntries folder={buildFolderTree(paths)} depth={0} marks={{ selected, onSelect, changes, problems }} />
    </Stack>
  );
}

interface EntryProps {
  depth: number;
  marks: Pick<FileTreeProps, 'selected' | 'onSelect' | 'changes' | 'problems'>;
}

function FolderEntries({ folder, ...entry }: EntryProps & { folder: Folder }) {
  return (
    <Box component="ul">
      {folder.folders.map((inner) => (
        <FolderEntry key={inner.path} folder={inner} {...entry} />
      ))}
      {folder.files.map(({ name, path }) => (
        <li key={path}>
          <FileEntry name={name} path={path} {...entry} />
        </li>
      ))}
    </Box>
  );
}

function FolderEntry({ folder, depth, marks }: EntryProps & { folder: Folder }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <li>
      <button
        type="button"
        className={styles.folder}
        aria-expanded={isOpen}
        style={{ paddingInlineStart: getIndent(depth) }}
        onClick={() => setOpen(!isOpen)}
      >
        <Box component="span" className={styles.twist} display="inline-flex" flex="none" c="dimmed">
          <DownIcon />
        </Box>
        <Text span className={styles.name} flex={1} miw={0} truncate>
          {folder.name}
        </Text>
      </button>
      {isOpen && <FolderEntries folder={folder} depth={depth + 1} marks={marks} />}
    </li>
  );
}

const CHANGE_KIND_LETTERS: Record<ChangeKind, string> = { added: 'A', modified: 'M', deleted: 'D' };

function FileEntry({ name, path, depth, marks }: EntryProps & Folder['files'][number]) {
  const { selected, onSelect, changes, problems } = marks;
  const change = changes?.get(path);
  const count = problems?.get(path) ?? 0;
  return (
    <button
      type="button"
      className={styles.file}
      aria-current={path === selected ? 'true' : undefined}
      data-change={change}
      style={{ paddingInlineStart: getIndent(depth) }}
      onClick={() => onSelect(path)}
    >
      <FileIcon />
      <Text span className={styles.name} flex={1} miw={0} truncate>
        {name}
      </Text>
      {count > 0 && (
        <span className={styles.problems}>
          {count}
          <span className="visually-hidden"> {count === 1 ? 'problem' : 'problems'}</span>
        </span>
      )}
      {change && (
        <span className={styles.change} title={change}>
          <span aria-hidden="true">{CHANGE_KIND_LETTERS[change]}</span>
          <span className="visually-hidden">{change}</span>
        </span>
      )}
    </button>
  );
}

const getIndent = (depth: number): string => `${0.5 + depth * 0.875}rem`;

interface PathFormProps {
  label: string;
  initialPath: string;
  validate: (path: string) => string | null;
  onDone: (path: string) => void;
  onCancel: () => void;
}

function PathForm({ label, initialPath, validate, onDone, onCancel }: PathFormProps) {
  const [path, setPath] = useState(initialPath);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const newPath = path.trim();
    const pathError = newPath === initialPath && initialPath !== '' ? null : validate(newPath);
    if (pathError) setProblem(pathError);
    else onDone(newPath);
  }
  return (
    <FormStack
      className={styles.form}
      gap="xs"
      p="xs"
      bd="1px solid var(--line)"
      bdrs={6}
      bg="var(--surface)"
      onSubmit={handleSubmit}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        ref={(input) => input?.focus()}
        value={path}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onChange={(event) => {
          setPath(event.currentTarget.value);
          setProblem(null);
        }}
        onKeyDown={(event) => event.key === 'Escape' && onCancel()}
      />
      {problem !== null && (
        <Text id={`${id}-problem`} fz="xs" c="var(--error)">
          {problem}
        </Text>
      )}
      <Group gap={4} wrap="nowrap">
        <button type="submit" className={styles.action}>
          Done
        </button>
        <button type="button" className={styles.action} onClick={onCancel}>
          Cancel
        </button>
      </Group>
    </FormStack>
  );
}
