/** A script that runs an unpacked program with the libraries and fonts that were fetched with it. */
import fs from 'node:fs';
import path from 'node:path';
import { shellQuote } from '../shell-quote';

/**
 * Chromium starts itself again through /proc/self/exe, which would be the dynamic loader if that was named outright.
 */
const REEXECUTED_TOOLS = /^chromium/;

/**
 * The dynamic loader is named outright where possible: an LD_LIBRARY_PATH would be inherited by everything that the
 * program starts.
 *
 * @param partial where the packages are unpacked now
 * @param dir where they will be
 * @param file the program in `partial`
 */
export function writeWrapper(partial: string, dir: string, file: string): void {
  const libraries = ['usr/lib', 'lib']
    .flatMap((lib) => listLibraryDirs(path.join(partial, lib)))
    .map((lib) => path.join(dir, path.relative(partial, lib)))
    .join(':');
  const program = path.join(dir, path.relative(partial, findProgram(partial, file)));
  const loader = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'].find((candidate) =>
    fs.existsSync(candidate),
  );
  const command =
    loader && !REEXECUTED_TOOLS.test(path.basename(program))
      ? `exec ${loader} --library-path ${shellQuote(libraries)} ${shellQuote(program)} "$@"`
      : `LD_LIBRARY_PATH=${shellQuote(libraries)} exec ${shellQuote(program)} "$@"`;
  const bin = path.join(partial, 'gantry-bin');
  fs.mkdirSync(bin, { recursive: true, mode: 0o755 });
  fs.writeFileSync(path.join(bin, path.basename(file)), `#!/bin/sh\n${writeFontsConfig(partial, dir)}${command}\n`, {
    mode: 0o755,
  });
}

/** A line for machines without fonts of their own, on which pages have no text; empty if no fonts were fetched. */
function writeFontsConfig(partial: string, dir: string): string {
  if (!fs.existsSync(path.join(partial, 'usr/share/fonts'))) return '';
  const fonts = path.join(dir, 'usr/share/fonts').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  fs.writeFileSync(path.join(partial, 'fonts.conf'), `<fontconfig><dir>${fonts}</dir></fontconfig>\n`);
  return `[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE=${shellQuote(path.join(dir, 'fonts.conf'))}\n`;
}

/** Debian's chromium in usr/bin is a script that looks for the program at its installed place. */
function findProgram(partial: string, file: string): string {
  const program = path.join(partial, 'usr/lib/chromium', path.basename(file));
  return fs.existsSync(program) ? program : file;
}

/** Directories of shared libraries: some lie deeper than the loader looks, such as `<arch>/pulseaudio`. */
function listLibraryDirs(dir: string): string[] {
  if (!fs.existsSync(dir)) return [];
  const entries = fs.readdirSync(dir, { withFileTypes: true });
  const below = entries.flatMap((entry) => (entry.isDirectory() ? listLibraryDirs(path.join(dir, entry.name)) : []));
  return entries.some(({ name }) => /\.so(\.|$)/.test(name)) ? [dir, ...below] : below;
}
