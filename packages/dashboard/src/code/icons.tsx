import { type Icon, IconFile, IconPencil, IconPlus, IconUpload } from '@tabler/icons-react';

/** Beside a word, or in a button that has a label. */
const smallIcon = (Drawing: Icon) => () => <Drawing size={15} stroke={2} aria-hidden="true" focusable="false" />;

export const FileIcon = smallIcon(IconFile);
export const PlusIcon = smallIcon(IconPlus);
export const RenameIcon = smallIcon(IconPencil);
export const UploadIcon = smallIcon(IconUpload);
