/** Documents, tables, files and designs. */
import {
  booleanField,
  buildAccount,
  buildProvider,
  defineTool,
  integerField,
  objectArrayField,
  objectField,
  requiredField,
  textField,
} from './provider';

export const notion = buildProvider({
  slug: 'notion',
  name: 'Notion',
  description: 'Pages and databases in a Notion workspace',
  category: 'Documents',
  logo: 'NO',
  docsUrl: 'https://developers.notion.com/docs/authorization',
  authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
  tokenUrl: 'https://api.notion.com/v1/oauth/token',
  authorizeParams: { owner: 'user' },
  clientAuth: 'basic',
  // The person who consents chooses pages instead.
  scopes: [],
  hosts: ['api.notion.com'],
  headers: { 'Notion-Version': '2022-06-28' },
  keysAreSentAlike: true,
  account: buildAccount('GET https://api.notion.com/v1/users/me', ['bot', 'workspace_name'], ['name']),
  revoke: {
    method: 'POST',
    url: 'https://api.notion.com/v1/oauth/revoke',
    token: 'access',
    auth: 'basic',
    json: { token: '{token}' },
  },
  apiUrl: 'https://api.notion.com/v1',
  tools: {
    search: defineTool('Finds pages and databases by title', 'POST /search', {
      query: textField('Words to look for in the title'),
      filter: objectField('{"property": "object", "value": "page" or "database"}'),
      page_size: integerField('Items per page', 100),
      start_cursor: textField('next_cursor from the previous page'),
    }),
    query_database: defineTool(
      'Reads rows from a database',
      'POST /databases/{database_id}/query',
      {
        database_id: requiredField(textField('Database ID')),
        filter: objectField("Filter in the Notion API's format"),
        sorts: objectArrayField("Sort order in the Notion API's format"),
        page_size: integerField('Items per page', 100),
        start_cursor: textField('next_cursor from the previous page'),
      },
      { reads: true },
    ),
    create_page: defineTool('Creates a page, or a row in a database', 'POST /pages', {
      parent: requiredField(objectField('{"database_id"} or {"page_id"}')),
      properties: requiredField(objectField('The title and any database columns')),
      children: objectArrayField('Blocks'),
    }),
  },
});

export const airtable = buildProvider({
  slug: 'airtable',
  name: 'Airtable',
  description: 'Bases and their records',
  category: 'Documents',
  logo: 'AT',
  docsUrl: 'https://airtable.com/developers/web/api/oauth-reference',
  authorizeUrl: 'https://airtable.com/oauth2/v1/authorize',
  tokenUrl: 'https://airtable.com/oauth2/v1/token',
  clientAuth: 'basic',
  scopes: [
    { name: 'data.records:read', description: 'Read records', default: true },
    { name: 'data.records:write', description: 'Create, edit and delete records' },
    { name: 'schema.bases:read', description: 'See bases and their tables', default: true },
    { name: 'user.email:read', description: "Read the account's email address", default: true },
  ],
  hosts: ['api.airtable.com', 'content.airtable.com'],
  keysAreSentAlike: true,
  account: buildAccount('GET https://api.airtable.com/v0/meta/whoami', ['email'], ['id']),
  revoke: null,
  apiUrl: 'https://api.airtable.com/v0',
  tools: {
    list_bases: defineTool('Lists bases', 'GET /meta/bases'),
    list_records: defineTool('Reads records from a table', 'GET /{base_id}/{table}', {
      base_id: requiredField(textField('Base ID')),
      table: requiredField(textField('Table ID or name')),
      filterByFormula: textField('Only records for which this formula is true'),
      view: textField("Only records in this view, in the view's order"),
      pageSize: integerField('Items per page', 100),
      offset: textField('offset from the previous page'),
    }),
    create_records: defineTool(
      'Creates up to ten records; requires the data.records:write scope',
      'POST /{base_id}/{table}',
      {
        base_id: requiredField(textField('Base ID')),
        table: requiredField(textField('Table ID or name')),
        records: requiredField(objectArrayField('[{"fields": {...}}]', 10)),
        typecast: booleanField('Converts text values to the column types'),
      },
    ),
  },
});

export const dropbox = buildProvider({
  slug: 'dropbox',
  name: 'Dropbox',
  description: 'Files and folders',
  category: 'Documents',
  logo: 'DB',
  docsUrl: 'https://developers.dropbox.com/oauth-guide',
  authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
  tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
  authorizeParams: { token_access_type: 'offline' },
  scopes: [
    { name: 'files.metadata.read', description: 'See file names and properties', default: true },
    { name: 'files.content.read', description: 'Read files', default: true },
    { name: 'files.content.write', description: 'Write files' },
    { name: 'sharing.read', description: 'See what is shared and with whom' },
  ],
  alwaysScopes: ['account_info.read'],
  hosts: ['api.dropboxapi.com', 'content.dropboxapi.com'],
  account: buildAccount('POST https://api.dropboxapi.com/2/users/get_current_account', ['email']),
  revoke: { method: 'POST', url: 'https://api.dropboxapi.com/2/auth/token/revoke', token: 'access', auth: 'bearer' },
  apiUrl: 'https://api.dropboxapi.com/2',
  tools: {
    list_folder: defineTool(
      'Lists the contents of a folder',
      'POST /files/list_folder',
      {
        path: requiredField(textField('For example, /reports; empty for the top-level folder')),
        recursive: booleanField('Includes the contents of subfolders'),
        limit: integerField('Items, at most', 2_000),
      },
      { reads: true },
    ),
    search: defineTool(
      'Finds files by name or content',
      'POST /files/search_v2',
      { query: requiredField(textField('Words')), options: objectField('{"path", "max_results", ...}') },
      { reads: true },
    ),
  },
});

export const figma = buildProvider({
  slug: 'figma',
  name: 'Figma',
  description: 'Designs and comments',
  category: 'Documents',
  logo: 'FI',
  docsUrl: 'https://developers.figma.com/docs/rest-api/authentication/',
  authorizeUrl: 'https://www.figma.com/oauth',
  tokenUrl: 'https://api.figma.com/v1/oauth/token',
  refreshUrl: 'https://api.figma.com/v1/oauth/refresh',
  clientAuth: 'basic',
  scopes: [
    { name: 'file_content:read', description: 'Read files', default: true },
    { name: 'file_comments:read', description: 'Read comments', default: true },
    { name: 'file_comments:write', description: 'Write and delete comments' },
    { name: 'file_metadata:read', description: 'Read file names and properties' },
  ],
  alwaysScopes: ['current_user:read'],
  hosts: ['api.figma.com'],
  account: buildAccount('GET https://api.figma.com/v1/me', ['email'], ['handle']),
  revoke: null,
  apiUrl: 'https://api.figma.com/v1',
  tools: {
    get_file: defineTool("Reads a file's nodes", 'GET /files/{file_key}', {
      file_key: requiredField(textField("File key from the file's URL")),
      depth: integerField('Number of levels to read', 20),
      ids: textField('Comma-separated node IDs'),
    }),
    list_comments: defineTool('Lists the comments on a file', 'GET /files/{file_key}/comments', {
      file_key: requiredField(textField("File key from the file's URL")),
    }),
    post_comment: defineTool(
      'Adds a comment to a file; requires the file_comments:write scope',
      'POST /files/{file_key}/comments',
      {
        file_key: requiredField(textField("File key from the file's URL")),
        message: requiredField(textField('Comment text')),
        comment_id: textField('ID of the comment to reply to'),
      },
    ),
  },
});
