/** Services for tasks and plans. */
import {
  BEARER,
  buildRfc7009Revocation,
  integerField,
  object,
  type Provider,
  requiredField,
  stringArrayField,
  text,
  tool,
} from './provider';

const LINEAR = 'https://api.linear.app/graphql';

export const linear: Provider = {
  slug: 'linear',
  name: 'Linear',
  description: 'Issues, projects and cycles',
  category: 'Planning',
  logo: 'LI',
  docsUrl: 'https://linear.app/developers/oauth-2-0-authentication',
  app: 'linear',
  protocol: 'oauth2',
  authorizeUrl: 'https://linear.app/oauth/authorize',
  tokenUrl: 'https://api.linear.app/oauth/token',
  clientAuth: 'post',
  scopeSeparator: ',',
  scopes: [
    { name: 'read', description: 'Read everything that the person sees', default: true },
    { name: 'write', description: 'Change everything that the person may' },
    { name: 'issues:create', description: 'Create issues' },
    { name: 'comments:create', description: 'Comment on issues' },
  ],
  hosts: ['api.linear.app'],
  send: BEARER,
  account: {
    request: { method: 'POST', url: LINEAR, fixed: { query: '{ viewer { email name } }' } },
    label: [
      ['data', 'viewer', 'email'],
      ['data', 'viewer', 'name'],
    ],
  },
  revoke: buildRfc7009Revocation('https://api.linear.app/oauth/revoke', 'none', 'access'),
  tools: [
    tool(
      'list_issues',
      'Lists issues, the latest change first',
      {
        method: 'POST',
        url: LINEAR,
        json: ['first', 'after', 'filter'],
        jsonUnder: 'variables',
        reads: true,
        fixed: {
          query: `query ($first: Int, $after: String, $filter: IssueFilter) {
            issues(first: $first, after: $after, filter: $filter, orderBy: updatedAt) {
              nodes { id identifier title url priority state { name } assignee { name } }
              pageInfo { hasNextPage endCursor } } }`,
        },
      },
      {
        first: integerField('Items on a page', 250),
        after: text('endCursor of the page before'),
        filter: object('Such as {"team": {"key": {"eq": "ENG"}}}'),
      },
    ),
    tool(
      'create_issue',
      'Creates an issue; needs the scope write or issues:create',
      {
        method: 'POST',
        url: LINEAR,
        json: ['input'],
        jsonUnder: 'variables',
        fixed: {
          query: `mutation ($input: IssueCreateInput!) {
            issueCreate(input: $input) { success issue { id identifier url } } }`,
        },
      },
      { input: requiredField(object('{"teamId", "title", "description"?, "assigneeId"?, "priority"?}')) },
    ),
    tool('list_teams', 'Lists teams with their ids', {
      method: 'POST',
      url: LINEAR,
      reads: true,
      fixed: { query: '{ teams { nodes { id key name } } }' },
    }),
  ],
};

const site = { cloud_id: requiredField(text('Id of the site, from list_sites')) };
const JIRA = 'https://api.atlassian.com/ex/jira/{cloud_id}/rest/api/3';

export const jira: Provider = {
  slug: 'jira',
  name: 'Jira',
  description: 'Issues and projects on Atlassian Cloud',
  category: 'Planning',
  logo: 'JI',
  docsUrl: 'https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/',
  app: 'jira',
  protocol: 'oauth2',
  authorizeUrl: 'https://auth.atlassian.com/authorize',
  tokenUrl: 'https://auth.atlassian.com/oauth/token',
  authorizeParams: { audience: 'api.atlassian.com', prompt: 'consent' },
  clientAuth: 'post',
  scopes: [
    { name: 'read:jira-work', description: 'Read projects and issues', default: true },
    { name: 'write:jira-work', description: 'Create and change issues' },
    { name: 'read:jira-user', description: 'Read users', default: true },
  ],
  alwaysScopes: ['offline_access', 'read:me'],
  hosts: ['api.atlassian.com'],
  send: BEARER,
  account: { request: { method: 'GET', url: 'https://api.atlassian.com/me' }, label: [['email'], ['name']] },
  revoke: null,
  tools: [
    tool('list_sites', 'Lists the sites that were consented to, with their ids', {
      method: 'GET',
      url: 'https://api.atlassian.com/oauth/token/accessible-resources',
    }),
    tool(
      'search_issues',
      'Finds issues by JQL',
      {
        method: 'POST',
        url: `${JIRA}/search/jql`,
        json: ['jql', 'fields', 'maxResults', 'nextPageToken'],
        reads: true,
      },
      {
        ...site,
        jql: requiredField(text('Such as: project = ENG AND status != Done')),
        fields: stringArrayField('Such as summary, status, assignee'),
        maxResults: integerField('Items, at most', 100),
        nextPageToken: text('Of the page before'),
      },
    ),
    tool(
      'create_issue',
      'Creates an issue; needs the scope write:jira-work',
      { method: 'POST', url: `${JIRA}/issue`, json: ['fields'] },
      {
        ...site,
        fields: requiredField(object('{"project": {"key"}, "issuetype": {"name"}, "summary", "description"?}')),
      },
    ),
    tool(
      'comment_on_issue',
      'Adds a comment to an issue; needs the scope write:jira-work',
      { method: 'POST', url: `${JIRA}/issue/{issue}/comment`, json: ['body'] },
      {
        ...site,
        issue: requiredField(text('Key of the issue, such as ENG-7')),
        body: requiredField(object('Atlassian Document Format')),
      },
    ),
  ],
};

export const asana: Provider = {
  slug: 'asana',
  name: 'Asana',
  description: 'Tasks and projects',
  category: 'Planning',
  logo: 'AS',
  docsUrl: 'https://developers.asana.com/docs/oauth',
  app: 'asana',
  protocol: 'oauth2',
  authorizeUrl: 'https://app.asana.com/-/oauth_authorize',
  tokenUrl: 'https://app.asana.com/-/oauth_token',
  clientAuth: 'post',
  scopes: [
    { name: 'tasks:read', description: 'Read tasks', default: true },
    { name: 'tasks:write', description: 'Create and change tasks' },
    { name: 'projects:read', description: 'Read projects', default: true },
    { name: 'stories:write', description: 'Comment on tasks' },
    { name: 'workspaces:read', description: 'See workspaces', default: true },
  ],
  alwaysScopes: ['users:read'],
  hosts: ['app.asana.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: {
    request: { method: 'GET', url: 'https://app.asana.com/api/1.0/users/me' },
    label: [
      ['data', 'email'],
      ['data', 'name'],
    ],
  },
  revoke: buildRfc7009Revocation('https://app.asana.com/-/oauth_revoke', 'none'),
  tools: [
    tool(
      'list_projects',
      'Lists projects of a workspace',
      { method: 'GET', url: 'https://app.asana.com/api/1.0/projects', query: ['workspace', 'limit', 'offset'] },
      {
        workspace: requiredField(text('Id of the workspace')),
        limit: integerField('Items on a page', 100),
        offset: text('offset of the page before'),
      },
    ),
    tool(
      'list_tasks',
      'Lists tasks of a project',
      {
        method: 'GET',
        url: 'https://app.asana.com/api/1.0/tasks',
        query: ['project', 'opt_fields', 'limit', 'offset'],
      },
      {
        project: requiredField(text('Id of the project')),
        opt_fields: text('Such as name,due_on,assignee.name'),
        limit: integerField('Items on a page', 100),
        offset: text('offset of the page before'),
      },
    ),
    tool(
      'create_task',
      'Creates a task; needs the scope tasks:write',
      {
        method: 'POST',
        url: 'https://app.asana.com/api/1.0/tasks',
        jsonUnder: 'data',
        json: ['name', 'notes', 'projects', 'assignee', 'due_on'],
      },
      {
        name: requiredField(text('Title')),
        notes: text('More of it'),
        projects: requiredField(stringArrayField('Ids of projects')),
        assignee: text('Id or email address'),
        due_on: text('Such as 2026-01-05'),
      },
    ),
  ],
};
