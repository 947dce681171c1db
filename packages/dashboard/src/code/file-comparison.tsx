import { Button, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { DiffView } from './diff-view';
import { CHANGE_KIND_LABELS, type ChangeKind, type Files, findText, listChangeKinds } from './files';

/** More diffs are opened one by one: each is an editor. */
const OPEN_MAX = 5;

/** Shows the differences between two trees, file by file. */
export function FileComparison({ before, after }: { before: Files; after: Files }) {
  const kinds = useMemo(() => [...listChangeKinds(before, after)], [before, after]);
  if (kinds.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        The files are identical.
      </Text>
    );
  return kinds.map(([path, kind], index) => (
    <FileDiff key={path} path={path} kind={kind} before={before} after={after} isOpenByDefault={index < OPEN_MAX} />
  ));
}

interface FileDiffProps {
  path: string;
  kind: ChangeKind;
  before: Files;
  after: Files;
  isOpenByDefault: boolean;
}

function FileDiff({ path, kind, before, after, isOpenByDefault }: FileDiffProps) {
  const [isOpen, setOpen] = useState(isOpenByDefault);
  const isText = isTextOrAbsent(before, path) && isTextOrAbsent(after, path);
  return (
    <Stack gap="xs">
      <Group gap="sm" align="baseline" justify="space-between" wrap="nowrap" fz="sm">
        <h3>
          <code>{path}</code>
        </h3>
        <Text span c="dimmed">
          {CHANGE_KIND_LABELS[kind]}
        </Text>
      </Group>
      {!isText ? (
        <Text fz="sm" c="dimmed">
          Binary files can’t be compared.
        </Text>
      ) : isOpen ? (
        <DiffView
          label={`Changes in ${path}`}
          path={path}
          before={findText(before, path) ?? ''}
          after={findText(after, path) ?? ''}
        />
      ) : (
        <div>
          <Button variant="default" onClick={() => setOpen(true)}>
            Show changes in {path}
          </Button>
        </div>
      )}
    </Stack>
  );
}

const isTextOrAbsent = (files: Files, path: string): boolean => !files.has(path) || findText(files, path) !== null;
