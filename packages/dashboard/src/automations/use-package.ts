import { unwrap } from '@gantry/sdk';
import { useMemo, useRef, useState } from 'react';
import type { Draft } from '../code/use-draft';
import { uploadFile } from '../inputs/send-files';
import { api } from '../shell/api';
import { type Manifest, type ReadManifest, readManifest } from './manifest';
import { zipOf } from './package-files';

export interface Artifact {
  artifactId: string;
  warnings: string[];
  /** The files it was built from. */
  files: Draft['files'];
  manifest: Manifest['json'];
}

/** The package that the files of a draft are deployed as. */
export interface Package {
  manifest: ReadManifest;
  /** Null: there is no Python file. */
  entrypoint: string | null;
  /** Candidates for the entrypoint. */
  entrypoints: string[];
  chooseEntrypoint: (path: string) => void;
  /** Uploads them; the same files are uploaded once. @throws ApiError 400 naming what is wrong */
  artifact: () => Promise<Artifact>;
}

const USUAL_ENTRYPOINT = 'main.py';

/** @param defaultEntrypoint entrypoint of the previous version */
export function usePackage({ files }: Draft, usual = USUAL_ENTRYPOINT): Package {
  const [chosen, setChosen] = useState(usual);
  const manifest = useMemo(() => readManifest(files), [files]);
  const entrypoints = useMemo(() => [...files.keys()].filter((path) => path.endsWith('.py')).sort(), [files]);
  const entrypoint = [chosen, USUAL_ENTRYPOINT].find((path) => entrypoints.includes(path)) ?? entrypoints[0] ?? null;
  const made = useRef<{ files: Draft['files']; entrypoint: string; artifact: Promise<Artifact> } | null>(null);

  function artifact(): Promise<Artifact> {
    if ('problem' in manifest) throw new Error(`manifest.json: ${manifest.problem.message}.`);
    if (entrypoint === null) throw new Error('There is no Python file.');
    if (made.current?.files === files && made.current.entrypoint === entrypoint) return made.current.artifact;
    const making = makeArtifact(files, manifest.json, entrypoint);
    made.current = { files, entrypoint, artifact: making };
    making.catch(() => {
      made.current = null;
    });
    return making;
  }
  return { manifest, entrypoint, entrypoints, chooseEntrypoint: setChosen, artifact };
}

async function makeArtifact(files: Draft['files'], manifest: Manifest['json'], entrypoint: string): Promise<Artifact> {
  const zip = new File([zipOf(files)], 'automation.zip', { type: 'application/zip' });
  const storageKey = await uploadFile(zip);
  const made = await unwrap(api.POST('/api/artifacts', { body: { manifest, entrypoint, storageKey } }));
  return { ...made, files, manifest };
}
