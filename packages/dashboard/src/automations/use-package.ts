import { useMemo, useRef, useState } from 'react';
import type { Draft } from '../code/use-draft';
import { uploadFile } from '../inputs/encode-file-inputs';
import { api } from '../shell/api';
import { type Manifest, type ParsedManifest, parseManifest } from './manifest';
import { zipPackage } from './package-files';

interface Artifact {
  artifactId: string;
  warnings: string[];
  /** The files it was built from. */
  files: Draft['files'];
  manifest: Manifest['json'];
}

/** The package that the files of a draft are deployed as. */
export interface Package {
  manifest: ParsedManifest;
  /** Null: there is no Python file. */
  entrypoint: string | null;
  /** Candidates for the entrypoint. */
  entrypoints: string[];
  chooseEntrypoint: (path: string) => void;
  /** Uploads them; the same files are uploaded once. @throws ApiError 400 naming what is wrong */
  artifact: () => Promise<Artifact>;
}

const DEFAULT_ENTRYPOINT = 'main.py';

/** @param defaultEntrypoint entrypoint of the previous version */
export function usePackage({ files }: Draft, defaultEntrypoint = DEFAULT_ENTRYPOINT): Package {
  const [selectedEntrypoint, setSelectedEntrypoint] = useState(defaultEntrypoint);
  const manifest = useMemo(() => parseManifest(files), [files]);
  const entrypoints = useMemo(() => [...files.keys()].filter((path) => path.endsWith('.py')).sort(), [files]);
  const entrypoint =
    [selectedEntrypoint, DEFAULT_ENTRYPOINT].find((path) => entrypoints.includes(path)) ?? entrypoints[0] ?? null;
  const uploaded = useRef<{ files: Draft['files']; entrypoint: string; artifact: Promise<Artifact> } | null>(null);

  function uploadArtifact(): Promise<Artifact> {
    if ('problem' in manifest) throw new Error(`Invalid manifest: ${manifest.problem.message}.`);
    if (entrypoint === null)
      throw new Error('The package doesn’t contain any Python files. Add a file that defines run().');
    if (uploaded.current?.files === files && uploaded.current.entrypoint === entrypoint)
      return uploaded.current.artifact;
    const upload = createArtifact(files, manifest.json, entrypoint);
    uploaded.current = { files, entrypoint, artifact: upload };
    upload.catch(() => {
      uploaded.current = null;
    });
    return upload;
  }
  return { manifest, entrypoint, entrypoints, chooseEntrypoint: setSelectedEntrypoint, artifact: uploadArtifact };
}

async function createArtifact(
  files: Draft['files'],
  manifest: Manifest['json'],
  entrypoint: string,
): Promise<Artifact> {
  const zip = new File([zipPackage(files)], 'automation.zip', { type: 'application/zip' });
  const storageKey = await uploadFile(zip);
  const made = await api.automation.POST('/api/artifacts', { body: { manifest, entrypoint, storageKey } });
  return { ...made, files, manifest };
}
