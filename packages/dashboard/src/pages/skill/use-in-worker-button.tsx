import { Button } from '@mantine/core';
import { toast } from '../../shell/toasts';
import { type SkillVersion, useCreateSkillWorker } from '../../workers/use-create-skill-worker';

/** Creates an agent from the shown version; its tools are selected on its page. */
export function UseInWorkerButton({ skill }: { skill: SkillVersion }) {
  const createWorker = useCreateSkillWorker();
  return (
    <Button
      variant="default"
      loading={createWorker.isPending}
      onClick={() =>
        createWorker.mutate(skill, {
          onError: (error) => toast(`Worker not created: ${error.message}`, { tone: 'error' }),
        })
      }
    >
      Use in a worker
    </Button>
  );
}
