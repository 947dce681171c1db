/** Writes what is made from tables: NetworkPolicies, docs/operations/network.md, and from k8s/ the Helm chart. Tests compare them. */
import fs from 'node:fs';
import path from 'node:path';
import { filesFromTables, filesOfChart } from './generated-files';

for (const files of [filesFromTables, filesOfChart]) {
  for (const [file, text] of Object.entries(files())) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}
