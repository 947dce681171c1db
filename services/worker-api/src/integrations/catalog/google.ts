/** Google's services: one OAuth client, and an entry for each. */
import {
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  defineTool,
  integerField,
  objectField,
  type Provider,
  requiredField,
  type Scope,
  textField,
} from './provider';

const GOOGLE_DEFAULTS = {
  category: 'Office',
  docsUrl: 'https://developers.google.com/identity/protocols/oauth2/web-server',
  app: 'google',
  protocol: 'oidc',
  issuer: 'https://accounts.google.com',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  // Without these there is a refresh token at the first consent alone.
  authorizeParams: { access_type: 'offline', prompt: 'consent' },
  alwaysScopes: ['openid', 'email'],
  account: buildAccount('GET https://openidconnect.googleapis.com/v1/userinfo', ['email'], ['sub']),
  revoke: buildRfc7009Revocation('https://oauth2.googleapis.com/revoke', 'none'),
} as const satisfies Partial<Provider>;

const defineScope = (name: string, description: string, isDefault?: true): Scope => ({
  name: `https://www.googleapis.com/auth/${name}`,
  description,
  ...(isDefault && { default: true }),
});

const USERINFO_HOST = 'openidconnect.googleapis.com';

export const gmail = buildProvider({
  ...GOOGLE_DEFAULTS,
  slug: 'gmail',
  name: 'Gmail',
  description: 'Mail in a Google account',
  logo: 'GM',
  scopes: [
    defineScope('gmail.readonly', 'Read mail and settings', true),
    defineScope('gmail.send', 'Send mail'),
    defineScope('gmail.compose', 'Create and send drafts'),
    defineScope('gmail.modify', 'Read, write and send mail, but not permanently delete it'),
    defineScope('gmail.labels', 'See and edit labels'),
  ],
  hosts: ['gmail.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://gmail.googleapis.com/gmail/v1/users/me',
  tools: {
    search_messages: defineTool('Lists the IDs of messages that match a search, newest first', 'GET /messages', {
      q: textField('A Gmail search query, such as: from:ada@example.com newer_than:7d'),
      maxResults: integerField('Items, at most', 500),
      pageToken: textField('nextPageToken from the previous page'),
    }),
    get_message: defineTool('Reads one message', 'GET /messages/{id}', {
      id: requiredField(textField('Message ID')),
      format: textField('full, metadata or minimal'),
    }),
    send_message: defineTool('Sends a message; needs the gmail.send scope', 'POST /messages/send', {
      raw: requiredField(textField('The complete RFC 5322 message, base64url-encoded')),
      threadId: textField('ID of the thread to reply to'),
    }),
  },
});

export const googleDrive = buildProvider({
  ...GOOGLE_DEFAULTS,
  slug: 'google-drive',
  name: 'Google Drive',
  description: 'Files and folders in a Google account',
  logo: 'GD',
  scopes: [
    defineScope('drive.readonly', 'Read all files', true),
    defineScope('drive.file', 'Read and write files created by or opened with the app'),
    defineScope('drive', 'Read and write all files'),
    defineScope('drive.metadata.readonly', 'Read file names and properties'),
  ],
  hosts: ['www.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://www.googleapis.com/drive/v3',
  tools: {
    search_files: defineTool('Lists files that match a query', 'GET /files', {
      q: textField("Such as: name contains 'report' and trashed = false"),
      pageSize: integerField('Items per page', 1_000),
      pageToken: textField('nextPageToken from the previous page'),
      fields: textField('Such as: files(id,name,mimeType,modifiedTime)'),
      orderBy: textField('Such as: modifiedTime desc'),
    }),
    get_file: defineTool('Reads the properties of a file', 'GET /files/{fileId}', {
      fileId: requiredField(textField('File ID')),
      fields: textField('Such as: id,name,mimeType,size'),
    }),
    export_file: defineTool('Exports a Google document to another format (up to 10 MB)', 'GET /files/{fileId}/export', {
      fileId: requiredField(textField('File ID')),
      mimeType: requiredField(textField('Media type, such as text/csv or application/pdf')),
    }),
  },
});

export const googleCalendar = buildProvider({
  ...GOOGLE_DEFAULTS,
  slug: 'google-calendar',
  name: 'Google Calendar',
  description: 'Calendars and events in a Google account',
  logo: 'GC',
  scopes: [
    defineScope('calendar.readonly', 'Read calendars and events', true),
    defineScope('calendar.events', 'Read and write events'),
    defineScope('calendar', 'Read and write calendars and events'),
  ],
  hosts: ['www.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://www.googleapis.com/calendar/v3',
  tools: {
    list_events: defineTool('Lists the events in a calendar', 'GET /calendars/{calendarId}/events', {
      calendarId: requiredField(textField('Calendar ID, or primary')),
      timeMin: textField('Only events that end after this time (RFC 3339)'),
      timeMax: textField('Only events that start before this time (RFC 3339)'),
      q: textField('Words to search for in events'),
      maxResults: integerField('Items, at most', 2_500),
      pageToken: textField('nextPageToken from the previous page'),
    }),
    create_event: defineTool(
      'Creates an event; needs the calendar.events scope',
      'POST /calendars/{calendarId}/events',
      {
        calendarId: requiredField(textField('Calendar ID, or primary')),
        summary: requiredField(textField('Title')),
        description: textField('Description'),
        location: textField('Location'),
        start: requiredField(objectField('{"dateTime": RFC 3339, "timeZone"?} or {"date": "2026-01-05"}')),
        end: requiredField(objectField('In the same format as start')),
      },
    ),
  },
});

export const googleSheets = buildProvider({
  ...GOOGLE_DEFAULTS,
  slug: 'google-sheets',
  name: 'Google Sheets',
  description: 'Spreadsheets in a Google account',
  logo: 'GS',
  scopes: [
    defineScope('spreadsheets.readonly', 'Read spreadsheets'),
    defineScope('spreadsheets', 'Read and write spreadsheets', true),
  ],
  hosts: ['sheets.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://sheets.googleapis.com/v4/spreadsheets',
  tools: {
    read_range: defineTool('Reads the cells in a range', 'GET /{spreadsheetId}/values/{range}', {
      spreadsheetId: requiredField(textField("Spreadsheet ID from the spreadsheet's URL")),
      range: requiredField(textField('Such as: Sheet1!A1:D20')),
      majorDimension: textField('ROWS or COLUMNS'),
      valueRenderOption: textField('FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA'),
    }),
    append_rows: defineTool(
      'Adds rows after the table in a range',
      'POST /{spreadsheetId}/values/{range}:append?valueInputOption=USER_ENTERED',
      {
        spreadsheetId: requiredField(textField("Spreadsheet ID from the spreadsheet's URL")),
        range: requiredField(textField('Such as: Sheet1!A:D')),
        values: requiredField({ type: 'array', items: { type: 'array' }, description: 'Rows of cells' }),
      },
    ),
  },
});
