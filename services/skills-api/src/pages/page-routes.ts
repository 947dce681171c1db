/** Pages that people open in a browser, and the same skill as Markdown and JSON. */
import { AppError } from '@gantry/errors';
import type { OperationCall, Operations } from '@gantry/http';
import type { Response } from 'express';
import { toReader } from '../access/caller';
import type { Deps } from '../deps';
import { listLibrarySkills, listStarterLibraries } from '../libraries/library-repository';
import { getReadableLibrary } from '../libraries/library-service';
import { html } from '../rendering/html';
import { toPageText } from '../rendering/page-text';
import { parseBody } from '../skills/front-matter';
import { getReadableSkill } from '../skills/get-skill';
import { searchSkills } from '../skills/search-skills';
import { type SkillWithBody, skillToApi } from '../skills/skill';
import { listPublicSkills } from '../skills/skill-lists';
import { computeEtag, computeSkillEtag, sendIfNotModified, VARY_BY_FORMAT } from './conditional-get';
import { sendPage } from './layout';
import { formatCount, renderHitList, renderLibraryList, renderSkillList } from './lists';
import { buildSkillHead, formatByline, renderSkillPage } from './skill-page';

const FIRST_PAGE = { limit: 30, offset: 0 };

export function createPageOperations(deps: Deps): Operations<'skills'> {
  const { prisma, skillsUrl, views, render, isFuzzy } = deps;
  const formats = {
    html: async (res: Response, skill: SkillWithBody) => {
      const { text, lowered } = toPageText(parseBody(skill.body_md).text, skill.title);
      const { markup, plain } = await render(`${skill.content_hash} ${lowered}`, text, lowered);
      // A later attempt may succeed.
      if (plain) {
        res.removeHeader('ETag');
        res.set('Cache-Control', 'no-store');
      }
      sendPage(res, buildSkillHead(skill, skillsUrl), renderSkillPage(skill, markup, deps));
    },
    md: async (res: Response, skill: SkillWithBody) =>
      void res.type('text/markdown; charset=utf-8').send(skill.body_md),
    json: async (res: Response, skill: SkillWithBody) => void res.json(skillToApi(skill, skillsUrl)),
  };

  async function sendSkill(call: OperationCall<'skills', 'skillPage'>, format: keyof typeof formats, vary?: string) {
    const { req, res, path } = call;
    const skill = await getReadableSkill(prisma, path.slug, toReader(req));
    if (sendIfNotModified(req, res, computeSkillEtag(skill), skill.visibility, vary)) return;
    views.note(skill.id);
    await formats[format](res, skill);
  }

  return {
    skillAsMarkdown: (call) => sendSkill(call, 'md'),
    skillAsJson: (call) => sendSkill(call, 'json'),
    /** The format follows the suffix, else Accept; the default is HTML. */
    skillPage: async (call) => {
      const wanted = call.req.accepts(['text/html', 'text/markdown', 'application/json']);
      if (wanted === 'text/markdown') return sendSkill(call, 'md', VARY_BY_FORMAT);
      if (wanted === 'application/json') return sendSkill(call, 'json', VARY_BY_FORMAT);
      await withNotFoundPage(call.res, skillsUrl, () => sendSkill(call, 'html', VARY_BY_FORMAT));
    },
    libraryPage: ({ req, res, path }) =>
      withNotFoundPage(res, skillsUrl, async () => {
        const reader = toReader(req);
        const library = await getReadableLibrary(prisma, path.slug, reader);
        const skills = await listLibrarySkills(prisma, reader, library);
        const { slug, title, description, visibility, updated_at: at } = library;
        const inside = skills.map((skill) => [
          skill.slug,
          skill.title,
          skill.description,
          skill.updated_at,
          skill.owner_name,
        ]);
        if (
          sendIfNotModified(
            req,
            res,
            computeEtag([slug, title, description, at, library.owner_name, inside]),
            visibility,
          )
        )
          return;
        const head = { title, description, url: `${skillsUrl}/l/${slug}`, indexed: visibility === 'public' };
        sendPage(
          res,
          head,
          html`<header class="head">
<h1 dir="auto">${title}</h1>
${description && html`<p class="lead" dir="auto">${description}</p>`}
<p class="facts">${formatByline(library)}${formatCount(skills.length, 'skill')}</p>
</header>
${renderSkillList(skills, 2)}`,
        );
      }),
    homePage: async ({ req, res, query }) => {
      const reader = toReader(req);
      const wanted = query.q?.trim() ?? '';
      const head = {
        title: wanted || 'Skills',
        description: 'Know-how for people and agents.',
        url: `${skillsUrl}/`,
        indexed: !wanted,
      };
      if (wanted) {
        const hits = await searchSkills(prisma, reader, wanted, FIRST_PAGE, isFuzzy);
        res.set('Cache-Control', 'private, no-store');
        const visibleHits = hits.slice(0, FIRST_PAGE.limit);
        return sendPage(
          res,
          head,
          html`<h1>Skills about “<span dir="auto">${wanted}</span>”</h1>
${visibleHits.length ? renderHitList(visibleHits) : html`<p>No skills that you can read match your search. Try fewer or different words.</p>`}`,
        );
      }
      const [libraries, newest] = await Promise.all([
        listStarterLibraries(prisma, reader, FIRST_PAGE),
        listPublicSkills(prisma, reader, FIRST_PAGE),
      ]);
      const skills = newest.slice(0, FIRST_PAGE.limit);
      const etagParts = [libraries, skills].map((rows) =>
        rows.map((row) => [row.slug, row.title, row.description, row.updated_at]),
      );
      if (sendIfNotModified(req, res, computeEtag(etagParts), 'public')) return;
      sendPage(
        res,
        head,
        html`<header class="head"><h1>Skills</h1>
<p class="lead">Know-how in Markdown, for people to read and for agents to follow.</p></header>
<h2>Libraries to start with</h2>
${renderLibraryList(libraries)}
<h2>Newest public skills</h2>
${renderSkillList(skills, 3)}`,
      );
    },
  };
}

/** Sends an HTML page for a missing resource, with the same status as the other formats. */
async function withNotFoundPage(res: Response, skillsUrl: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (err) {
    if (!(err instanceof AppError) || (err.kind !== 'not_found' && err.kind !== 'gone')) throw err;
    const title = err.kind === 'gone' ? 'Deleted' : 'Not found';
    res.status(err.status).set('Cache-Control', 'no-store');
    sendPage(
      res,
      { title, description: title, url: skillsUrl, indexed: false },
      html`<h1>${title}</h1><p>${err.detail}.</p><p>If it was shared with your email address, sign in with that address first.</p>`,
    );
  }
}
