import { type Icon, IconFile, IconPencil, IconPlus, IconUpload } from '@tabler/icons-react';

/** Beside a word, or in a button that has a label. */
const small = (Drawing: Icon) => () => <Drawing size={15} stroke={2} aria-hidden="true" focusable="false" />;

export const FileIcon = small(IconFile);
export const PlusIcon = small(IconPlus);
export const RenameIcon = small(IconPencil);
export const UploadIcon = small(IconUpload);
