import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import type { Worker } from '../shell/api';
import { skillPath } from '../shell/paths';
import { Notice } from '../ui/notice';
import { Timestamp } from '../ui/timestamp';

const SkillUpdateDialog = lazy(() => import('./skill-update-dialog'));

/** Shows that the skill which an agent copies was deleted, or has a newer version, with a button to update. */
export function SkillUpdateNotice({ worker }: { worker: Worker }) {
  const [isOpen, setOpen] = useState(false);
  const { skill_update: update, skill_deleted: isDeleted } = worker;
  if (isDeleted) {
    return (
      <Notice tone="info" title="Skill deleted">
        This worker has its own copy of the skill, so its runs aren’t affected.
      </Notice>
    );
  }
  if (!update) return null;
  return (
    <>
      <Notice
        tone="info"
        title="Newer skill version available"
        action={
          <Button variant="default" onClick={() => setOpen(true)}>
            View version {update.version}
          </Button>
        }
      >
        <Link to={skillPath(update.slug)}>{update.slug}</Link> was updated{' '}
        <Timestamp at={Date.parse(update.published_at)} />. This worker will keep using its own copy until you update
        it.
      </Notice>
      {isOpen && (
        <Suspense>
          <SkillUpdateDialog worker={worker} slug={update.slug} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
