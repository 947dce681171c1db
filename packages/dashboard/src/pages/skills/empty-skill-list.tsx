import { Link } from 'react-router';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { EmptyState } from '../../ui/empty-state';
import type { SkillListKind } from './use-skill-list';

/** Explains an empty list, and links to ways to fill it. */
export function EmptySkillList({ kind }: { kind: SkillListKind }) {
  const canWrite = useWorkspace()?.role !== 'viewer';
  switch (kind) {
    case 'workspace':
      return (
        <EmptyState title="No published skills yet" level={2}>
          <p>Public skills from members of this workspace and skills they share with you appear here.</p>
        </EmptyState>
      );
    case 'saved':
      return (
        <EmptyState title="No saved skills yet" level={2}>
          <p>Open another author’s skill and select Save to keep it here.</p>
          <p>
            <Link to={paths.libraries}>Browse libraries</Link>
          </p>
        </EmptyState>
      );
    case 'deleted':
      return (
        <EmptyState title="No deleted skills" level={2}>
          <p>You can restore deleted skills here for 30 days.</p>
        </EmptyState>
      );
    default:
      return (
        <EmptyState title="Create your first skill" level={2}>
          <p>
            A skill is a set of instructions in Markdown, such as how to review a change or respond to a customer.
            People read it as a page; agents fetch it as a file.
          </p>
          {canWrite && (
            <p>
              <LinkButton to={paths.newSkill}>New skill</LinkButton>
            </p>
          )}
          <p>
            <Link to={paths.libraries}>Browse libraries</Link>
          </p>
        </EmptyState>
      );
  }
}
