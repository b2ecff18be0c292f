import { useEffect } from 'react';
import { useFiles } from '@/features/session-files/files-query';
import { showFile } from '@/lib/panel-links';
import { useCommandList } from '@/lib/commands';

/** Offers the workspace’s files in the palette while the session page is shown. */
export function OfferFiles() {
  const { data } = useFiles();
  useEffect(() => {
    const paths = data?.entries.filter(({ kind }) => kind === 'file').map(({ path }) => path) ?? [];
    useCommandList.setState({ files: { paths, open: showFile } });
    return () => useCommandList.setState({ files: null });
  }, [data]);
  return null;
}
