/** Services for tasks and plans. */
import {
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  defineTool,
  integerField,
  objectField,
  parseRequest,
  requiredField,
  stringArrayField,
  textField,
} from './provider';

export const linear = buildProvider({
  slug: 'linear',
  name: 'Linear',
  description: 'Issues, projects and cycles',
  category: 'Planning',
  logo: 'LI',
  docsUrl: 'https://linear.app/developers/oauth-2-0-authentication',
  authorizeUrl: 'https://linear.app/oauth/authorize',
  tokenUrl: 'https://api.linear.app/oauth/token',
  scopeSeparator: ',',
  scopes: [
    { name: 'read', description: 'Read everything the user can see', default: true },
    { name: 'write', description: 'Edit everything the user can edit' },
    { name: 'issues:create', description: 'Create issues' },
    { name: 'comments:create', description: 'Comment on issues' },
  ],
  hosts: ['api.linear.app'],
  account: {
    request: parseRequest('POST https://api.linear.app/graphql', { fixed: { query: '{ viewer { email name } }' } }),
    label: [
      ['data', 'viewer', 'email'],
      ['data', 'viewer', 'name'],
    ],
  },
  revoke: buildRfc7009Revocation('https://api.linear.app/oauth/revoke', 'none', 'access'),
  apiUrl: 'https://api.linear.app',
  tools: {
    list_issues: defineTool(
      'Lists issues, most recently updated first',
      'POST /graphql',
      {
        first: integerField('Items per page', 250),
        after: textField('endCursor from the previous page'),
        filter: objectField('For example, {"team": {"key": {"eq": "ENG"}}}'),
      },
      {
        jsonUnder: 'variables',
        reads: true,
        fixed: {
          query: `query ($first: Int, $after: String, $filter: IssueFilter) {
            issues(first: $first, after: $after, filter: $filter, orderBy: updatedAt) {
              nodes { id identifier title url priority state { name } assignee { name } }
              pageInfo { hasNextPage endCursor } } }`,
        },
      },
    ),
    create_issue: defineTool(
      'Creates an issue; needs the write or issues:create scope',
      'POST /graphql',
      { input: requiredField(objectField('{"teamId", "title", "description"?, "assigneeId"?, "priority"?}')) },
      {
        jsonUnder: 'variables',
        fixed: {
          query: `mutation ($input: IssueCreateInput!) {
            issueCreate(input: $input) { success issue { id identifier url } } }`,
        },
      },
    ),
    list_teams: defineTool(
      'Lists teams with their IDs',
      'POST /graphql',
      {},
      { reads: true, fixed: { query: '{ teams { nodes { id key name } } }' } },
    ),
  },
});

const site = { cloud_id: requiredField(textField('Site ID, from list_sites')) };

export const jira = buildProvider({
  slug: 'jira',
  name: 'Jira',
  description: 'Issues and projects in Atlassian Cloud',
  category: 'Planning',
  logo: 'JI',
  docsUrl: 'https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/',
  authorizeUrl: 'https://auth.atlassian.com/authorize',
  tokenUrl: 'https://auth.atlassian.com/oauth/token',
  authorizeParams: { audience: 'api.atlassian.com', prompt: 'consent' },
  scopes: [
    { name: 'read:jira-work', description: 'Read projects and issues', default: true },
    { name: 'write:jira-work', description: 'Create and edit issues' },
    { name: 'read:jira-user', description: 'Read users', default: true },
  ],
  alwaysScopes: ['offline_access', 'read:me'],
  hosts: ['api.atlassian.com'],
  account: buildAccount('GET https://api.atlassian.com/me', ['email'], ['name']),
  revoke: null,
  apiUrl: 'https://api.atlassian.com/ex/jira/{cloud_id}/rest/api/3',
  tools: {
    list_sites: defineTool(
      'Lists the sites that the user has granted access to, including site IDs',
      'GET https://api.atlassian.com/oauth/token/accessible-resources',
    ),
    search_issues: defineTool(
      'Finds issues using JQL',
      'POST /search/jql',
      {
        ...site,
        jql: requiredField(textField('For example: project = ENG AND status != Done')),
        fields: stringArrayField('For example: summary, status, assignee'),
        maxResults: integerField('Items, at most', 100),
        nextPageToken: textField('nextPageToken from the previous page'),
      },
      { reads: true },
    ),
    create_issue: defineTool('Creates an issue; needs the write:jira-work scope', 'POST /issue', {
      ...site,
      fields: requiredField(objectField('{"project": {"key"}, "issuetype": {"name"}, "summary", "description"?}')),
    }),
    comment_on_issue: defineTool(
      'Adds a comment to an issue; needs the write:jira-work scope',
      'POST /issue/{issue}/comment',
      {
        ...site,
        issue: requiredField(textField('Issue key, such as ENG-7')),
        body: requiredField(objectField('Comment in Atlassian Document Format')),
      },
    ),
  },
});

export const asana = buildProvider({
  slug: 'asana',
  name: 'Asana',
  description: 'Tasks and projects',
  category: 'Planning',
  logo: 'AS',
  docsUrl: 'https://developers.asana.com/docs/oauth',
  authorizeUrl: 'https://app.asana.com/-/oauth_authorize',
  tokenUrl: 'https://app.asana.com/-/oauth_token',
  scopes: [
    { name: 'tasks:read', description: 'Read tasks', default: true },
    { name: 'tasks:write', description: 'Create and edit tasks' },
    { name: 'projects:read', description: 'Read projects', default: true },
    { name: 'stories:write', description: 'Comment on tasks' },
    { name: 'workspaces:read', description: 'See workspaces', default: true },
  ],
  alwaysScopes: ['users:read'],
  hosts: ['app.asana.com'],
  keysAreSentAlike: true,
  account: buildAccount('GET https://app.asana.com/api/1.0/users/me', ['data', 'email'], ['data', 'name']),
  revoke: buildRfc7009Revocation('https://app.asana.com/-/oauth_revoke', 'none'),
  apiUrl: 'https://app.asana.com/api/1.0',
  tools: {
    list_projects: defineTool('Lists the projects in a workspace', 'GET /projects', {
      workspace: requiredField(textField('Workspace ID')),
      limit: integerField('Items per page', 100),
      offset: textField('next_page.offset from the previous page'),
    }),
    list_tasks: defineTool('Lists the tasks in a project', 'GET /tasks', {
      project: requiredField(textField('Project ID')),
      opt_fields: textField('For example: name,due_on,assignee.name'),
      limit: integerField('Items per page', 100),
      offset: textField('next_page.offset from the previous page'),
    }),
    create_task: defineTool(
      'Creates a task; needs the tasks:write scope',
      'POST /tasks',
      {
        name: requiredField(textField('Title')),
        notes: textField('Details'),
        projects: requiredField(stringArrayField('Project IDs')),
        assignee: textField('User ID or email address'),
        due_on: textField('For example: 2026-01-05'),
      },
      { jsonUnder: 'data' },
    ),
  },
});
