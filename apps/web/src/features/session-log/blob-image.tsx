import { useEffect, useMemo } from 'react';
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { client } from '@/lib/server';
import { useSessionId } from './session-context';

interface BlobImageProps {
  blob: string;
  alt: string;
  className?: string;
}

/** An image stored as a blob of the session. */
export function BlobImage({ blob, alt, className }: BlobImageProps) {
  const url = useBlobUrl(blob);
  if (!url) return <div aria-hidden className={clsx('h-24 w-36 rounded-md bg-hover', className)} />;
  return <img src={url} alt={alt} className={clsx('rounded-md border', className)} />;
}

/** An object URL for a blob; null until loaded. `type` is needed if browsers cannot detect it. */
export function useBlobUrl(blob: string | null, type?: string): string | null {
  const id = useSessionId();
  const { data } = useQuery({
    queryKey: ['blob', blob],
    queryFn: () => client.sessions.blob(id, blob ?? ''),
    enabled: blob !== null,
    staleTime: Infinity,
  });
  const url = useMemo(
    () => (data ? URL.createObjectURL(new Blob([data as BlobPart], type ? { type } : {})) : null),
    [data, type],
  );
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  return url;
}
