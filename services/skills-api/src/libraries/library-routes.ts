import { creating, type Operations } from '@gantry/http';
import type { Request, Response } from 'express';
import { readerOf, signedInOf } from '../access/caller';
import type { PrismaClient } from '../generated/prisma/client';
import { linkNext, pageOf, pathParam } from '../page-of';
import { listInLibrary } from '../skills/skill-lists';
import { type LibraryRow, libraryItemToApi, libraryToApi } from './library';
import { listOwnLibraries, listStarters, listSubscribed } from './library-repository';
import {
  addToLibrary,
  changeLibrary,
  createLibrary,
  deleteLibrary,
  getReadableLibrary,
  orderLibrary,
  removeFromLibrary,
  subscribe,
  unsubscribe,
} from './library-service';

export interface LibraryDeps {
  prisma: PrismaClient;
  skillsUrl: string;
}

export function libraryOperations({ prisma, skillsUrl }: LibraryDeps): Operations {
  /** The library as the caller now sees it. */
  async function answer(req: Request, res: Response, slug: string) {
    const reader = readerOf(req);
    const library = await getReadableLibrary(prisma, slug, reader);
    res.json(libraryToApi(library, await listInLibrary(prisma, reader, library), skillsUrl));
  }

  async function answerCreated(req: Request, res: Response, slug: string) {
    res.status(201).location(`/api/v1/libraries/${slug}`);
    await answer(req, res, slug);
  }

  const items = (rows: LibraryRow[]) => rows.map((row) => libraryItemToApi(row, skillsUrl));

  return {
    listLibraries: async (req, res) => {
      const page = pageOf(req);
      res.json(items(linkNext(req, res, await listStarters(prisma, readerOf(req), page), page)));
    },
    createLibrary: creating(
      async (req, res) => {
        const slug = await createLibrary(prisma, signedInOf(req), req.body);
        await answerCreated(req, res, slug);
      },
      { see: (req, slug) => getReadableLibrary(prisma, slug, signedInOf(req)), answer: answerCreated },
    ),
    getLibrary: (req, res) => answer(req, res, pathParam(req, 'slug')),
    changeLibrary: async (req, res) => {
      const slug = pathParam(req, 'slug');
      await changeLibrary(prisma, signedInOf(req), slug, req.body);
      await answer(req, res, slug);
    },
    deleteLibrary: async (req, res) => {
      await deleteLibrary(prisma, signedInOf(req), pathParam(req, 'slug'));
      res.status(204).end();
    },
    addToLibrary: async (req, res) => {
      const slug = pathParam(req, 'slug');
      await addToLibrary(prisma, signedInOf(req), slug, req.body.skill_slug);
      await answer(req, res, slug);
    },
    removeFromLibrary: async (req, res) => {
      await removeFromLibrary(prisma, signedInOf(req), pathParam(req, 'slug'), pathParam(req, 'skill_slug'));
      res.status(204).end();
    },
    orderLibrary: async (req, res) => {
      const slug = pathParam(req, 'slug');
      await orderLibrary(prisma, signedInOf(req), slug, req.body.skill_slugs);
      await answer(req, res, slug);
    },
    listMyLibraries: async (req, res) => {
      const page = pageOf(req);
      res.json(items(linkNext(req, res, await listOwnLibraries(prisma, signedInOf(req), page), page)));
    },
    listSubscriptions: async (req, res) => {
      const page = pageOf(req);
      const person = signedInOf(req);
      const rows = linkNext(req, res, await listSubscribed(prisma, person, page), page);
      const withSkills = rows.map(async (row) =>
        libraryToApi(row, await listInLibrary(prisma, person, row), skillsUrl),
      );
      res.json(await Promise.all(withSkills));
    },
    subscribe: async (req, res) => {
      const slug = req.body.library_slug;
      await subscribe(prisma, signedInOf(req), slug);
      await answer(req, res, slug);
    },
    unsubscribe: async (req, res) => {
      await unsubscribe(prisma, signedInOf(req), pathParam(req, 'slug'));
      res.status(204).end();
    },
  };
}
