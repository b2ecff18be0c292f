import { actionOutput, bytesText, visibleText, type ActionOutput } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { VisibleText } from '@/components/ui/visible-text';
import { useBlobUrl } from '@/features/session-log/blob-image';
import { useSessionId } from '@/features/session-log/session-context';
import { downloadFile } from '@/lib/download-file';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

type LeftFile = ActionOutput['files'][number];

/** The files of an installed action’s result: previews of pictures and sounds, and downloads. */
export function ActionFiles({ output }: { output: unknown }) {
  const { data } = actionOutput.safeParse(output);
  if (!data || data.files.length === 0) return null;
  return (
    <ul className="space-y-2 border-t p-2 text-xs" aria-label="Files of the action">
      {data.files.map((file) => (
        <li key={`${file.name} ${file.blob}`} className="space-y-1">
          <Shown file={file} />
          <FileLine file={file} />
        </li>
      ))}
    </ul>
  );
}

function FileLine({ file }: { file: LeftFile }) {
  const session = useSessionId();
  const save = () =>
    attempt(async () => {
      const content = await client.sessions.blob(session, file.blob);
      downloadFile(file.name, content as BlobPart, file.type);
    });
  return (
    <p className="flex items-center gap-2">
      <span className="min-w-0 truncate font-mono">
        <VisibleText text={file.name} />
      </span>
      <span className="shrink-0 text-faint">{bytesText(file.bytes)}</span>
      <Button small onClick={save} aria-label={`Download ${visibleText(file.name)}`}>
        Download
      </Button>
    </p>
  );
}

function Shown({ file }: { file: LeftFile }) {
  const isPicture = file.type.startsWith('image/');
  const isSound = file.type.startsWith('audio/');
  const url = useBlobUrl(isPicture || isSound ? file.blob : null, file.type);
  if (!url) return null;
  if (isPicture)
    return <img src={url} alt={visibleText(file.name)} className="max-h-72 rounded-md border" />;
  return (
    <audio controls src={url} aria-label={visibleText(file.name)} className="w-full max-w-md" />
  );
}
