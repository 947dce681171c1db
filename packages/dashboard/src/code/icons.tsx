import { type Icon, IconFile, IconPencil, IconPlus, IconUpload } from '@tabler/icons-react';

/** Beside a word, or in a button that has a label. */
const createSmallIcon = (Drawing: Icon) => () => <Drawing size={15} stroke={2} aria-hidden="true" focusable="false" />;

export const FileIcon = createSmallIcon(IconFile);
export const PlusIcon = createSmallIcon(IconPlus);
export const RenameIcon = createSmallIcon(IconPencil);
export const UploadIcon = createSmallIcon(IconUpload);
