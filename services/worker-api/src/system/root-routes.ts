import { requireReadMethod } from '@gantry/http';
import { Router } from 'express';

/** `GET /`: a browser goes on to the dashboard, a program is told where everything is. */
export function createRootRouter({ dashboardUrl, skillsUrl }: { dashboardUrl: string; skillsUrl: string }): Router {
  const docs = new URL('/docs', dashboardUrl).href;
  return Router()
    .all('/', requireReadMethod)
    .get('/', (req, res) => {
      res.vary('Accept');
      if (req.accepts(['json', 'html']) === 'html') return res.redirect(302, dashboardUrl);
      res.json({ name: 'Gantry, worker surface', dashboard: dashboardUrl, docs, skills: skillsUrl });
    });
}
