import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api } from '../shell/api';
import { workerPath } from '../shell/paths';
import { toast } from '../shell/toasts';
import { useInvalidateWorkers } from './use-worker';

export interface SkillVersion {
  slug: string;
  /** SHA-256 of its text. */
  contentHash: string;
}

/** Formats a skill version for the API. */
export const formatSkillPin = ({ slug, contentHash }: SkillVersion): string => `${slug}@${contentHash}`;

/** Creates an agent from one version of a skill, and opens the page where its tools are selected. */
export function useCreateSkillWorker() {
  const navigate = useNavigate();
  const invalidateWorkers = useInvalidateWorkers();
  return useMutation({
    mutationFn: (skill: SkillVersion) =>
      api.worker.POST('/api/workers', { body: { runner: 'agent', skill: formatSkillPin(skill) } }),
    onSuccess: (worker) => {
      void invalidateWorkers();
      toast(`${worker.name} created. Now choose tools for the agent.`);
      navigate(workerPath(worker.id, 'workerSettings'));
    },
  });
}
