import { Box, Skeleton } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { FileEditor } from '../../code/file-editor';
import { DeletedFileNotice, type DraftFileProps, FilePane, ViewToggle } from '../../code/file-pane';
import { formatFileSize } from '../../ui/format';
import { Notice } from '../../ui/notice';

const MarkdownPreview = lazy(() => import('../../outputs/output-markdown'));
const CsvPreview = lazy(() => import('./csv-preview'));

export function ContextFile({ path, content, onChange, onSave, onRestore }: DraftFileProps) {
  const [showsPreview, setShowsPreview] = useState(false);
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const hasPreview = extension === 'md' || extension === 'csv';
  return (
    <FilePane
      path={path}
      action={
        content &&
        'text' in content &&
        hasPreview && (
          <ViewToggle isOn={showsPreview} onToggle={setShowsPreview} labels={{ on: 'Edit', off: 'Preview' }} />
        )
      }
    >
      {!content ? (
        <DeletedFileNotice from="context" onRestore={onRestore} />
      ) : 'base64' in content ? (
        <BinaryFile path={path} extension={extension} base64={content.base64} />
      ) : showsPreview && hasPreview ? (
        <Box className="surface" p="lg" bdrs={6}>
          <Suspense fallback={<Skeleton height={160} />}>
            {extension === 'md' ? (
              <MarkdownPreview text={content.text} />
            ) : (
              <CsvPreview path={path} text={content.text} />
            )}
          </Suspense>
        </Box>
      ) : (
        <FileEditor
          label={`Contents of ${path}`}
          path={path}
          value={content.text}
          onChange={onChange}
          onSave={onSave}
        />
      )}
    </FilePane>
  );
}

/** Image types that a browser renders without running code in them. */
const IMAGE_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

function BinaryFile({ path, extension, base64 }: { path: string; extension: string; base64: string }) {
  const type = IMAGE_TYPES[extension];
  const bytes = useMemo(() => Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4), [base64]);
  if (type) {
    return (
      <Box className="surface" p="lg" bdrs={6}>
        <img src={`data:${type};base64,${base64}`} alt={path} />
      </Box>
    );
  }
  return (
    <Notice tone="info" title="Binary file">
      {formatFileSize(bytes)}. You can rename or delete this file. To replace it, upload a file with the same name.
    </Notice>
  );
}
