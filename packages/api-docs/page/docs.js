/* global SwaggerUIBundle */
(() => {
  const links = [...document.querySelectorAll('nav a')];
  const surfaceOf = (link) => new URL(link.href).searchParams.get('surface');
  const asked = new URLSearchParams(location.search).get('surface');
  const current = links.find((link) => surfaceOf(link) === asked) ?? links[0];
  current.setAttribute('aria-current', 'page');
  document.title = `${current.textContent} API · Gantry`;

  /** What the library draws in ways that a screen reader can't tell: a link inside a button, a choice without a name. */
  const readable = ({ React, specSelectors }) => ({
    wrapComponents: {
      DeepLink:
        () =>
        ({ text }) =>
          React.createElement('span', null, text),
      ServersContainer: () => () => {
        const address = specSelectors.servers().first()?.get('url');
        return React.createElement('p', { className: 'server' }, 'Server ', React.createElement('code', null, address));
      },
    },
  });

  SwaggerUIBundle({
    url: `/openapi/${surfaceOf(current)}.yaml`,
    domNode: document.getElementById('reference'),
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 3,
    // A token typed here is forgotten with the page.
    persistAuthorization: false,
    // Else every document is sent to a validator elsewhere.
    validatorUrl: null,
    plugins: [readable],
  });
})();
