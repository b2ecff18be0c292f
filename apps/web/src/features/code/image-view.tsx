import { useEffect, useMemo, useState } from 'react';
import { bytesText } from '@belay/protocol';

/** A picture from the workspace, in its original size or scaled down to fit. */
export function ImageView({
  path,
  bytes,
  type,
}: {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}) {
  const url = useMemo(() => URL.createObjectURL(new Blob([bytes], { type })), [bytes, type]);
  const [size, setSize] = useState('');
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <figure className="flex h-full flex-col items-center justify-center gap-2 p-3">
      <img
        src={url}
        alt={path}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setSize(`${naturalWidth} × ${naturalHeight}, `)
        }
        className="min-h-0 max-w-full border bg-[repeating-conic-gradient(var(--sunken)_0_25%,var(--panel)_0_50%)] bg-size-[16px_16px] object-contain"
      />
      <figcaption className="text-xs text-faint tabular-nums">
        {size}
        {bytesText(bytes.length)}
      </figcaption>
    </figure>
  );
}
