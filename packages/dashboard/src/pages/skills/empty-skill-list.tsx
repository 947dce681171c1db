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
          <p>Public skills by this workspace’s members, and skills they share with you, are listed here.</p>
        </EmptyState>
      );
    case 'saved':
      return (
        <EmptyState title="No saved skills yet" level={2}>
          <p>Open another author’s skill and press Save to keep it here.</p>
          <p>
            <Link to={paths.libraries}>Browse the libraries</Link>
          </p>
        </EmptyState>
      );
    case 'deleted':
      return (
        <EmptyState title="No deleted skills" level={2}>
          <p>A skill that you delete stays here for 30 days and can be restored.</p>
        </EmptyState>
      );
    default:
      return (
        <EmptyState title="Write down how something is done" level={2}>
          <p>
            A skill is a page of Markdown: how a change is reviewed, how a customer is answered. People read it as a
            page, agents fetch it as a file.
          </p>
          {canWrite && (
            <p>
              <LinkButton to={paths.newSkill}>Write your first skill</LinkButton>
            </p>
          )}
          <p>
            <Link to={paths.libraries}>See what others have written</Link>
          </p>
        </EmptyState>
      );
  }
}
