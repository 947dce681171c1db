import { Button } from '@mantine/core';
import { toast } from '../../shell/toasts';
import { type SkillVersion, useSkillWorker } from '../../workers/use-skill-worker';

/** Makes an agent of the version that is shown; its tools are chosen on its page. */
export function UseInWorker({ skill }: { skill: SkillVersion }) {
  const make = useSkillWorker();
  return (
    <Button
      variant="default"
      loading={make.isPending}
      onClick={() =>
        make.mutate(skill, {
          onError: (error) => toast(`No worker was made: ${error.message}`, { tone: 'error' }),
        })
      }
    >
      Use in a worker
    </Button>
  );
}
