import { parseCsv } from '../../outputs/csv';
import { OutputTable } from '../../outputs/output-table';

export default function CsvPreview({ path, text }: { path: string; text: string }) {
  return <OutputTable name={path} label={path} table={parseCsv(text)} />;
}
