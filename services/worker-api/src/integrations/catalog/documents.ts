/** Documents, tables, files and designs. */
import { BEARER, integerField, object, type Provider, requiredField, text, tool } from './provider';

export const notion: Provider = {
  slug: 'notion',
  name: 'Notion',
  description: 'Pages and databases of a Notion workspace',
  category: 'Documents',
  logo: 'NO',
  docsUrl: 'https://developers.notion.com/docs/authorization',
  app: 'notion',
  protocol: 'oauth2',
  authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
  tokenUrl: 'https://api.notion.com/v1/oauth/token',
  authorizeParams: { owner: 'user' },
  clientAuth: 'basic',
  // The person who consents chooses pages instead.
  scopes: [],
  hosts: ['api.notion.com'],
  send: BEARER,
  headers: { 'Notion-Version': '2022-06-28' },
  keysAreSentAlike: true,
  account: {
    request: { method: 'GET', url: 'https://api.notion.com/v1/users/me' },
    label: [['bot', 'workspace_name'], ['name']],
  },
  revoke: {
    method: 'POST',
    url: 'https://api.notion.com/v1/oauth/revoke',
    token: 'access',
    auth: 'basic',
    json: { token: '{token}' },
  },
  tools: [
    tool(
      'search',
      'Finds pages and databases by their titles',
      {
        method: 'POST',
        url: 'https://api.notion.com/v1/search',
        json: ['query', 'filter', 'page_size', 'start_cursor'],
      },
      {
        query: text('Words in the title'),
        filter: object('{"property": "object", "value": "page" or "database"}'),
        page_size: integerField('Items on a page', 100),
        start_cursor: text('next_cursor of the page before'),
      },
    ),
    tool(
      'query_database',
      'Reads rows of a database',
      {
        method: 'POST',
        url: 'https://api.notion.com/v1/databases/{database_id}/query',
        reads: true,
        json: ['filter', 'sorts', 'page_size', 'start_cursor'],
      },
      {
        database_id: requiredField(text('Id of the database')),
        filter: object("As Notion's API has it"),
        sorts: { type: 'array', items: { type: 'object' }, description: "As Notion's API has it" },
        page_size: integerField('Items on a page', 100),
        start_cursor: text('next_cursor of the page before'),
      },
    ),
    tool(
      'create_page',
      'Creates a page, or a row of a database',
      { method: 'POST', url: 'https://api.notion.com/v1/pages', json: ['parent', 'properties', 'children'] },
      {
        parent: requiredField(object('{"database_id"} or {"page_id"}')),
        properties: requiredField(object('Title, and the columns of the database')),
        children: { type: 'array', items: { type: 'object' }, description: 'Blocks' },
      },
    ),
  ],
};

export const airtable: Provider = {
  slug: 'airtable',
  name: 'Airtable',
  description: 'Bases and their records',
  category: 'Documents',
  logo: 'AT',
  docsUrl: 'https://airtable.com/developers/web/api/oauth-reference',
  app: 'airtable',
  protocol: 'oauth2',
  authorizeUrl: 'https://airtable.com/oauth2/v1/authorize',
  tokenUrl: 'https://airtable.com/oauth2/v1/token',
  clientAuth: 'basic',
  scopes: [
    { name: 'data.records:read', description: 'Read records', default: true },
    { name: 'data.records:write', description: 'Create, change and delete records' },
    { name: 'schema.bases:read', description: 'See bases and their tables', default: true },
    { name: 'user.email:read', description: 'Read the email address', default: true },
  ],
  hosts: ['api.airtable.com', 'content.airtable.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: {
    request: { method: 'GET', url: 'https://api.airtable.com/v0/meta/whoami' },
    label: [['email'], ['id']],
  },
  revoke: null,
  tools: [
    tool('list_bases', 'Lists bases', { method: 'GET', url: 'https://api.airtable.com/v0/meta/bases' }),
    tool(
      'list_records',
      'Reads records of a table',
      {
        method: 'GET',
        url: 'https://api.airtable.com/v0/{base_id}/{table}',
        query: ['filterByFormula', 'view', 'pageSize', 'offset'],
      },
      {
        base_id: requiredField(text('Id of the base')),
        table: requiredField(text('Id or name of the table')),
        filterByFormula: text('Only records for which it is true'),
        view: text('As this view has them'),
        pageSize: integerField('Items on a page', 100),
        offset: text('offset of the page before'),
      },
    ),
    tool(
      'create_records',
      'Creates up to ten records; needs the scope data.records:write',
      { method: 'POST', url: 'https://api.airtable.com/v0/{base_id}/{table}', json: ['records', 'typecast'] },
      {
        base_id: requiredField(text('Id of the base')),
        table: requiredField(text('Id or name of the table')),
        records: requiredField({
          type: 'array',
          items: { type: 'object' },
          maxItems: 10,
          description: '[{"fields": {...}}]',
        }),
        typecast: { type: 'boolean', description: 'Turns texts into what the columns hold' },
      },
    ),
  ],
};

export const dropbox: Provider = {
  slug: 'dropbox',
  name: 'Dropbox',
  description: 'Files and folders',
  category: 'Documents',
  logo: 'DB',
  docsUrl: 'https://developers.dropbox.com/oauth-guide',
  app: 'dropbox',
  protocol: 'oauth2',
  authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
  tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
  authorizeParams: { token_access_type: 'offline' },
  clientAuth: 'post',
  scopes: [
    { name: 'files.metadata.read', description: 'See names and properties of files', default: true },
    { name: 'files.content.read', description: 'Read files', default: true },
    { name: 'files.content.write', description: 'Write files' },
    { name: 'sharing.read', description: 'See what is shared with whom' },
  ],
  alwaysScopes: ['account_info.read'],
  hosts: ['api.dropboxapi.com', 'content.dropboxapi.com'],
  send: BEARER,
  account: {
    request: { method: 'POST', url: 'https://api.dropboxapi.com/2/users/get_current_account' },
    label: [['email']],
  },
  revoke: { method: 'POST', url: 'https://api.dropboxapi.com/2/auth/token/revoke', token: 'access', auth: 'bearer' },
  tools: [
    tool(
      'list_folder',
      'Lists what is in a folder',
      {
        method: 'POST',
        url: 'https://api.dropboxapi.com/2/files/list_folder',
        json: ['path', 'recursive', 'limit'],
        reads: true,
      },
      {
        path: requiredField(text('Such as /reports; empty for the top')),
        recursive: { type: 'boolean', description: 'With everything below' },
        limit: integerField('Items, at most', 2_000),
      },
    ),
    tool(
      'search',
      'Finds files by name or content',
      { method: 'POST', url: 'https://api.dropboxapi.com/2/files/search_v2', json: ['query', 'options'], reads: true },
      { query: requiredField(text('Words')), options: object('{"path", "max_results", ...}') },
    ),
  ],
};

export const figma: Provider = {
  slug: 'figma',
  name: 'Figma',
  description: 'Designs and comments',
  category: 'Documents',
  logo: 'FI',
  docsUrl: 'https://developers.figma.com/docs/rest-api/authentication/',
  app: 'figma',
  protocol: 'oauth2',
  authorizeUrl: 'https://www.figma.com/oauth',
  tokenUrl: 'https://api.figma.com/v1/oauth/token',
  refreshUrl: 'https://api.figma.com/v1/oauth/refresh',
  clientAuth: 'basic',
  scopes: [
    { name: 'file_content:read', description: 'Read files', default: true },
    { name: 'file_comments:read', description: 'Read comments', default: true },
    { name: 'file_comments:write', description: 'Write and delete comments' },
    { name: 'file_metadata:read', description: 'Read names and properties of files' },
  ],
  alwaysScopes: ['current_user:read'],
  hosts: ['api.figma.com'],
  send: BEARER,
  account: { request: { method: 'GET', url: 'https://api.figma.com/v1/me' }, label: [['email'], ['handle']] },
  revoke: null,
  tools: [
    tool(
      'get_file',
      'Reads the nodes of a file',
      { method: 'GET', url: 'https://api.figma.com/v1/files/{file_key}', query: ['depth', 'ids'] },
      {
        file_key: requiredField(text('From the address of the file')),
        depth: integerField('How far down', 20),
        ids: text('Ids of nodes, separated by commas'),
      },
    ),
    tool(
      'list_comments',
      'Lists comments of a file',
      { method: 'GET', url: 'https://api.figma.com/v1/files/{file_key}/comments' },
      { file_key: requiredField(text('From the address of the file')) },
    ),
    tool(
      'post_comment',
      'Adds a comment to a file; needs the scope file_comments:write',
      { method: 'POST', url: 'https://api.figma.com/v1/files/{file_key}/comments', json: ['message', 'comment_id'] },
      {
        file_key: requiredField(text('From the address of the file')),
        message: requiredField(text('What it says')),
        comment_id: text('Comment that it answers'),
      },
    ),
  ],
};
