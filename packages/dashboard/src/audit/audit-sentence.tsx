import { Link } from 'react-router';
import { useAutomationName } from '../automations/automation-name';
import {
  alertPath,
  approvalPath,
  automationPath,
  connectionPath,
  paths,
  workerPath,
  workerRunPath,
} from '../shell/paths';
import { useWorkerName } from '../workers/worker-name';
import { type AuditEntry, buildAuditSentence, type ResourceReference } from './build-audit-sentence';

/** Names of members, by user. */
export type People = ReadonlyMap<string, string>;

/** "Ada made Grace a viewer", with links to what there is to look at. */
export function AuditSentence({ entry, people }: { entry: AuditEntry; people: People }) {
  return (
    <>
      <strong>{actorLabel(entry, people)}</strong>{' '}
      {buildAuditSentence(entry).map((part, index) =>
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

export function actorLabel({ actor, details }: AuditEntry, people: People): string {
  const memberName = actor.id === null ? undefined : people.get(actor.id);
  const email = typeof details.email === 'string' ? details.email : undefined;
  switch (actor.kind) {
    case 'system':
      return 'Gantry';
    case 'link':
      return actor.label ?? email ?? 'A link holder';
    case 'workspace_token':
      return `The token “${actor.label ?? actor.token_id}”`;
    case 'api_key':
      return `${memberName ?? actor.label ?? 'Unknown user'} (with a key)`;
    case 'personal_token':
      return `${memberName ?? actor.label ?? 'Unknown user'} (with a token)`;
    default:
      return memberName ?? actor.label ?? email ?? 'Unknown user';
  }
}

function AuditResourceLink({ resource, people }: { resource: ResourceReference; people: People }) {
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
