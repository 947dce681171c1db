/** Customers, sales and payments. */
import {
  booleanField,
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  defineTool,
  integerField,
  objectArrayField,
  objectField,
  parseRequest,
  requiredField,
  stringArrayField,
  textField,
} from './provider';

export const hubspot = buildProvider({
  slug: 'hubspot',
  name: 'HubSpot',
  description: 'Contacts, companies and deals',
  category: 'Business',
  logo: 'HS',
  docsUrl: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/working-with-oauth',
  authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
  tokenUrl: 'https://api.hubapi.com/oauth/v1/token',
  scopes: [
    { name: 'crm.objects.contacts.read', description: 'Read contacts', default: true },
    { name: 'crm.objects.contacts.write', description: 'Create and edit contacts' },
    { name: 'crm.objects.companies.read', description: 'Read companies' },
    { name: 'crm.objects.companies.write', description: 'Create and edit companies' },
    { name: 'crm.objects.deals.read', description: 'Read deals' },
    { name: 'crm.objects.deals.write', description: 'Create and edit deals' },
  ],
  alwaysScopes: ['oauth'],
  hosts: ['api.hubapi.com'],
  keysAreSentAlike: true,
  account: buildAccount('GET https://api.hubapi.com/account-info/v3/details', ['portalId']),
  revoke: {
    method: 'DELETE',
    url: 'https://api.hubapi.com/oauth/v1/refresh-tokens/{token}',
    token: 'refresh',
    auth: 'none',
  },
  apiUrl: 'https://api.hubapi.com',
  tools: {
    search_objects: defineTool(
      'Finds contacts, companies or deals',
      'POST /crm/v3/objects/{object_type}/search',
      {
        object_type: requiredField(textField('contacts, companies or deals')),
        query: textField('Words'),
        filterGroups: objectArrayField("Filter groups in the HubSpot API's format"),
        properties: stringArrayField('Names of the properties to return'),
        limit: integerField('Items, at most', 200),
        after: textField('paging.next.after from the previous page'),
      },
      { reads: true },
    ),
    create_contact: defineTool(
      'Creates a contact; needs the crm.objects.contacts.write scope',
      'POST /crm/v3/objects/contacts',
      { properties: requiredField(objectField('For example, {"email", "firstname", "lastname"}')) },
    ),
  },
});

export const salesforce = buildProvider({
  slug: 'salesforce',
  name: 'Salesforce',
  description: 'Objects in a Salesforce organization',
  category: 'Business',
  logo: 'SF',
  docsUrl: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_web_server_flow.htm&type=5',
  authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
  tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
  scopes: [
    { name: 'api', description: 'Read and write everything that the user can access through the API', default: true },
  ],
  alwaysScopes: ['refresh_token', 'id'],
  hosts: ['login.salesforce.com', '*.my.salesforce.com'],
  account: buildAccount('GET https://login.salesforce.com/services/oauth2/userinfo', ['email'], ['preferred_username']),
  learn: { instance: 'instance_url' },
  revoke: buildRfc7009Revocation('https://login.salesforce.com/services/oauth2/revoke', 'none'),
  apiUrl: 'https://{instance}/services/data/v62.0',
  tools: {
    query: defineTool('Reads records using SOQL', 'GET /query', {
      q: requiredField(textField('For example: SELECT Id, Name FROM Account LIMIT 10')),
    }),
    create_record: defineTool('Creates a record', 'POST /composite/sobjects', {
      records: requiredField(objectArrayField('[{"attributes": {"type": "Contact"}, "LastName": ...}]', 200)),
      allOrNone: booleanField('Creates none of the records if any of them is rejected'),
    }),
  },
});

export const stripe = buildProvider({
  slug: 'stripe',
  name: 'Stripe',
  description: 'Payments, customers and invoices',
  category: 'Business',
  logo: 'ST',
  docsUrl: 'https://docs.stripe.com/connect/oauth-reference',
  authorizeUrl: 'https://connect.stripe.com/oauth/authorize',
  tokenUrl: 'https://connect.stripe.com/oauth/token',
  // A platform may ask for one of them.
  scopes: [
    { name: 'read_only', description: 'Read everything', default: true },
    { name: 'read_write', description: 'Read and write everything' },
  ],
  hosts: ['api.stripe.com', 'files.stripe.com'],
  keysAreSentAlike: true,
  account: buildAccount(
    'GET https://api.stripe.com/v1/account',
    ['settings', 'dashboard', 'display_name'],
    ['email'],
    ['id'],
  ),
  revoke: null,
  apiUrl: 'https://api.stripe.com/v1',
  tools: {
    list_charges: defineTool('Lists charges, most recent first', 'GET /charges', {
      customer: textField('Only charges for this customer'),
      limit: integerField('Items, at most', 100),
      starting_after: textField('ID of the last charge on the previous page'),
    }),
    search_customers: defineTool('Finds customers', 'GET /customers/search', {
      query: requiredField(textField("For example: email:'ada@example.com'")),
      limit: integerField('Items, at most', 100),
      page: textField('next_page from the previous page'),
    }),
    list_invoices: defineTool('Lists invoices, most recent first', 'GET /invoices', {
      customer: textField('Only invoices for this customer'),
      status: textField('draft, open, paid, uncollectible or void'),
      limit: integerField('Items, at most', 100),
      starting_after: textField('ID of the last invoice on the previous page'),
    }),
  },
});

export const shopify = buildProvider({
  slug: 'shopify',
  name: 'Shopify',
  description: "A shop's products, orders and customers",
  category: 'Business',
  logo: 'SH',
  docsUrl: 'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant',
  authorizeUrl: 'https://{shop}.myshopify.com/admin/oauth/authorize',
  tokenUrl: 'https://{shop}.myshopify.com/admin/oauth/access_token',
  scopeSeparator: ',',
  scopes: [
    { name: 'read_products', description: 'Read products', default: true },
    { name: 'write_products', description: 'Create and edit products' },
    { name: 'read_orders', description: 'Read orders', default: true },
    { name: 'read_customers', description: 'Read customers' },
  ],
  hosts: ['{shop}.myshopify.com'],
  send: { header: 'X-Shopify-Access-Token', prefix: '' },
  keysAreSentAlike: true,
  account: {
    request: parseRequest('POST https://{shop}.myshopify.com/admin/api/2026-01/graphql.json', {
      fixed: { query: '{ shop { name } }' },
    }),
    label: [['data', 'shop', 'name']],
  },
  parameters: [{ name: 'shop', label: 'Shop name', placeholder: 'acme, for acme.myshopify.com' }],
  revoke: null,
  apiUrl: 'https://{shop}.myshopify.com/admin/api/2026-01',
  tools: {
    graphql: defineTool('Calls the GraphQL Admin API', 'POST /graphql.json', {
      query: requiredField(textField('For example: { products(first: 10) { nodes { id title } } }')),
      variables: objectField('Query variables'),
    }),
  },
});
