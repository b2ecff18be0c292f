import { useEffect, useMemo } from 'react';
import { X } from 'lucide-react';
import { bytesText } from '@belay/protocol';
import type { Attachment } from './use-attachments';

interface AttachmentsProps {
  items: readonly Attachment[];
  onRemove(key: number): void;
}

export function Attachments({ items, onRemove }: AttachmentsProps) {
  if (!items.length) return null;
  return (
    <ul className="flex flex-wrap gap-1.5 px-2 pt-2">
      {items.map(({ key, file }) => (
        <li
          key={key}
          className="flex items-center gap-1.5 rounded-sm bg-sunken px-1.5 py-0.5 text-xs"
        >
          {file.type.startsWith('image/') && <Thumbnail file={file} />}
          <span className="max-w-48 truncate">{file.name}</span>{' '}
          <span className="text-faint">{bytesText(file.size)}</span>
          <button type="button" aria-label={`Remove ${file.name}`} onClick={() => onRemove(key)}>
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Thumbnail({ file }: { file: File }) {
  const url = useMemo(() => URL.createObjectURL(file), [file]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return <img src={url} alt="" className="size-8 rounded-sm border object-cover" />;
}
