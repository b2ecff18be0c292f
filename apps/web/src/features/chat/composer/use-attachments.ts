import { useState, type ClipboardEvent } from 'react';
import { chooseFiles } from '@/lib/choose-files';
import { toast } from '@/lib/toasts';

export interface Attachment {
  key: number;
  file: File;
}

const limit = 10 * 1_048_576;
let next = 1;

/** The files attached to the message that is being written. */
export function useAttachments() {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const add = (files: readonly File[]) => {
    const fitting = files.filter((file) => file.size <= limit);
    if (fitting.length < files.length) toast('Files over 10 MB were left out.');
    setItems((now) => [...now, ...fitting.map((file) => ({ key: next++, file }))]);
  };
  return {
    items,
    add,
    remove: (key: number) => setItems((now) => now.filter((item) => item.key !== key)),
    take: () => {
      setItems([]);
      return items;
    },
    choose: () => chooseFiles(add),
    /** Pasted files become attachments. */
    paste: (event: ClipboardEvent) => {
      const files = [...event.clipboardData.files];
      if (files.length === 0) return;
      event.preventDefault();
      add(files);
    },
  };
}
