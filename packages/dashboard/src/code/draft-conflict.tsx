import { Box, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { toast } from '../shell/toasts';
import { ConfirmButton } from '../ui/confirm-button';
import { LoadErrorNotice } from '../ui/notice';
import { Timestamp } from '../ui/timestamp';
import { DiffView } from './diff-view';
import { applyChanges, type Files, findText, listChangeKinds } from './files';
import type { Draft, DraftSource } from './use-draft';
import type { ListedVersion } from './version-list';

interface DraftConflictProps {
  source: DraftSource;
  draft: Draft;
  /** The current version; undefined until it is known. */
  newer: (Pick<ListedVersion, 'version' | 'message' | 'created_at'> & { author: string | null }) | undefined;
}

/** Resolves a conflict with a version saved since the draft began: shows both, and rebases the draft. */
export function DraftConflict({ source, draft, newer }: DraftConflictProps) {
  const [isOpen, setOpen] = useState(false);
  const theirs = useQuery(source.getFilesQuery(source.sha));
  const name = newer ? `version ${newer.version}` : 'another version';
  return (
    <Stack
      component="section"
      gap="md"
      p="md"
      bd="1px solid var(--tone)"
      bdrs={10}
      bg="var(--tone-wash)"
      aria-label="Version conflict"
      data-tone="timeout"
    >
      <Group gap="sm" justify="space-between" fz="sm" role="alert">
        <div>
          <Text fw={640}>
            {newer?.author ?? 'Another member'} saved {name} while you were editing
          </Text>
          <p>
            {newer && <Timestamp at={Date.parse(newer.created_at)} />}
            {newer?.message && `: ${newer.message}`}
          </p>
        </div>
        <Group gap="xs">
          <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Close' : 'Compare'}
          </Button>
          {theirs.data && (
            <>
              <ConfirmButton
                label="Discard my changes"
                question="Discard now"
                busy={false}
                onConfirm={() => draft.rebase(source.sha, null)}
              >
                Discard my changes
              </ConfirmButton>
              <Button
                onClick={() => {
                  draft.rebase(source.sha, applyChanges(theirs.data, draft.changes));
                  toast(`Your changes were applied on top of ${name}`);
                }}
              >
                Reapply my changes
              </Button>
            </>
          )}
        </Group>
      </Group>
      {isOpen &&
        (theirs.data ? (
          <DraftComparison draft={draft} theirs={theirs.data} name={name} />
        ) : theirs.error ? (
          <LoadErrorNotice what="The newer version" error={theirs.error} retry={theirs.refetch} />
        ) : (
          <Skeleton height={160} />
        ))}
    </Stack>
  );
}

function DraftComparison({ draft, theirs, name }: { draft: Draft; theirs: Files; name: string }) {
  const mine = useMemo(() => listChangeKinds(draft.base, draft.files), [draft.base, draft.files]);
  const others = useMemo(() => listChangeKinds(draft.base, theirs), [draft.base, theirs]);
  const both = [...mine.keys()].filter((path) => others.has(path));
  return (
    <Stack gap="sm" fz="sm">
      <p>{both.length === 0 ? NO_OVERLAP : describeOverlap(both)}</p>
      {[...mine.keys()].map((path) => (
        <div key={path}>
          <Box component="h3" mb="xs">
            <code>{path}</code>: {name} and your draft
          </Box>
          <DiffView
            label={`${path}: ${name} compared with your draft`}
            path={path}
            before={findText(theirs, path) ?? ''}
            after={findText(draft.files, path) ?? ''}
          />
        </div>
      ))}
    </Stack>
  );
}

const NO_OVERLAP =
  'You and the other author changed different files, so reapplying your changes won’t overwrite anything.';

const describeOverlap = (paths: string[]): string =>
  `You both changed ${paths.join(', ')}. “Reapply my changes” overwrites the other author’s changes there.`;
