import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { workspaceChoice } from './workspace-choice';

/** After it, everything on screen is of another workspace. */
export function useMoveTo() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (workspaceId: string | null) => {
    workspaceChoice.choose(workspaceId);
    await queryClient.resetQueries();
    navigate('/');
  };
}
