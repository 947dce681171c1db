import { Button } from '@mantine/core';
import { Link } from 'react-router';
import type { Worker } from '../shell/api';
import { skillPath } from '../shell/paths';
import { Failure, Notice } from '../ui/notice';
import { Timestamp } from '../ui/timestamp';
import { useChangeWorker } from './use-change-worker';

/** Of the published skill that an agent is a copy of: that it has a newer text, which a person takes, or that it was deleted. */
export function SkillNews({ worker }: { worker: Worker }) {
  const change = useChangeWorker(worker.id);
  const { skill_update: update, skill_deleted: isDeleted, permissions, status } = worker;
  if (isDeleted) {
    return (
      <Notice tone="info" title="Its skill was deleted">
        This worker has a copy of the text and runs as before.
      </Notice>
    );
  }
  if (!update) return null;
  const mayTake = permissions.edit && status !== 'archived';
  return (
    <>
      <Notice
        tone="info"
        title="Its skill has a newer version"
        action={
          mayTake && (
            <Button
              variant="default"
              loading={change.isPending}
              onClick={() => change.mutate({ skill: `${update.slug}@${update.hash}` })}
            >
              Take version {update.version}
            </Button>
          )
        }
      >
        <Link to={skillPath(update.slug)}>{update.slug}</Link> was changed{' '}
        <Timestamp at={Date.parse(update.published_at)} />. The worker keeps its copy until somebody takes the new one.
      </Notice>
      <Failure error={change.error} title="The new version was not taken" />
    </>
  );
}
