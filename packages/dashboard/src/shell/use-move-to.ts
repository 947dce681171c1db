import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths } from './paths';
import { workspaceChoice } from './workspace-choice';

/** Makes another workspace the one that this browser works in. Everything on screen was the old one's, so it goes. */
export function useMoveTo() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (workspaceId: string | null) => {
    workspaceChoice.choose(workspaceId);
    await queryClient.resetQueries();
    navigate(paths.home);
  };
}
