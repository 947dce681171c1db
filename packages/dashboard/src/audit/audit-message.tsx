import { Link } from 'react-router';
import { useAutomationName } from '../automations/use-automation-name';
import {
  alertPath,
  approvalPath,
  automationPath,
  connectionPath,
  paths,
  workerPath,
  workerRunPath,
} from '../shell/paths';
import { useWorkerName } from '../workers/use-worker-name';
import { type AuditEntry, buildAuditMessage, type ResourceReference } from './build-audit-message';

/** Names of members, by user. */
export type MemberNames = ReadonlyMap<string, string>;

/** "Ada made Grace a viewer", with links to what there is to look at. */
export function AuditMessage({ entry, people }: { entry: AuditEntry; people: MemberNames }) {
  return (
    <>
      <strong>{getActorLabel(entry, people)}</strong>{' '}
      {buildAuditMessage(entry).map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an entry never change.
          <AuditResourceLink key={index} resource={part} people={people} />
        ),
      )}
    </>
  );
}

function getActorLabel({ actor, details }: AuditEntry, memberNames: MemberNames): string {
  const memberName = actor.id === null ? undefined : memberNames.get(actor.id);
  const email = typeof details.email === 'string' ? details.email : undefined;
  switch (actor.kind) {
    case 'system':
      return 'Gantry';
    case 'link':
      return actor.label ?? email ?? 'A person with the link';
    case 'workspace_token':
      return `The token “${actor.label ?? actor.token_id}”`;
    case 'api_key':
      return `${memberName ?? actor.label ?? 'Unknown user'} (via key)`;
    case 'personal_token':
      return `${memberName ?? actor.label ?? 'Unknown user'} (via token)`;
    default:
      return memberName ?? actor.label ?? email ?? 'Unknown user';
  }
}

function AuditResourceLink({ resource, people }: { resource: ResourceReference; people: MemberNames }) {
  const { of, id, name } = resource;
  const isNamed = name !== undefined;
  const worker = useWorkerName(of === 'worker' && !isNamed ? id : null);
  const automation = useAutomationName(of === 'automation' && !isNamed ? id : null);
  switch (of) {
    case 'worker':
      return <Link to={workerPath(id)}>{name ?? worker}</Link>;
    case 'automation':
      return <Link to={automationPath(id)}>{name ?? automation ?? 'an automation'}</Link>;
    case 'run':
      return <Link to={workerRunPath(id)}>{name ?? 'a run'}</Link>;
    case 'alert':
      return <Link to={alertPath(id)}>{name ?? 'an alert'}</Link>;
    case 'approval':
      return <Link to={approvalPath(id)}>{name ?? 'an approval'}</Link>;
    case 'connection':
      return <Link to={connectionPath(id)}>{name ?? 'a connection'}</Link>;
    case 'secret':
      return <Link to={paths.secrets}>{id}</Link>;
    case 'member':
      return <Link to={paths.members}>{people.get(id) ?? name ?? 'a member'}</Link>;
  }
}
