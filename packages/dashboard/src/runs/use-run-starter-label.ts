import { useMembers } from '../accounts/use-members';
import { useMe } from '../shell/use-me';
import { TRIGGER_LABELS } from './trigger-labels';

interface StartedRun {
  trigger: keyof typeof TRIGGER_LABELS;
  /** User or token. */
  createdBy: string | null;
}

/** Describes who or what started a run: a person by name, else the trigger. */
export function useRunStarterLabel(): (run: StartedRun) => string {
  const { data: me } = useMe();
  const { data: members } = useMembers();
  return ({ trigger, createdBy }) => {
    const word = TRIGGER_LABELS[trigger];
    const isMine = createdBy !== null && createdBy === me?.id;
    const member = members?.find(({ user_id }) => user_id === createdBy);
    const name = isMine ? 'you' : (member?.name ?? member?.email);
    if (name === undefined) return trigger === 'api' && createdBy?.startsWith('tok_') ? 'API token' : word;
    return trigger === 'api' ? (isMine ? 'You' : name) : `${word} by ${name}`;
  };
}
