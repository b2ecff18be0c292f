import { useEffect, useState } from 'react';
import { bytesText, errorFrom, visibleText, type ActionOutput } from '@belay/protocol';
import { VisibleText } from '@/components/ui/visible-text';
import { client } from '@/lib/server';

/** Calls an action outside of a session; `result` shows the outcome of the last call. */
export function useActionCall(name: string) {
  const [running, setRunning] = useState(false);
  const [output, setOutput] = useState<ActionOutput>();
  const [fault, setFault] = useState<string>();
  const run = async (input: Record<string, unknown>) => {
    setRunning(true);
    setOutput(undefined);
    setFault(undefined);
    try {
      setOutput(await client.actionCalls.call(name, input));
    } catch (error) {
      setFault(errorFrom(error).message);
    } finally {
      setRunning(false);
    }
  };
  const result = (
    <>
      {fault && (
        <p role="alert" className="text-sm break-words text-fail">
          <VisibleText text={fault} />
        </p>
      )}
      {output && <Output name={name} output={output} />}
    </>
  );
  return { running, run, result };
}

function Output({ name, output }: { name: string; output: ActionOutput }) {
  const { structured, errors, exitCode, files } = output;
  // JSON output is only in `structured`.
  const text = output.text || JSON.stringify(structured, null, 2);
  return (
    <div role="status" className="space-y-2">
      {exitCode !== 0 && <p className="text-sm text-fail">Exited with code {exitCode}.</p>}
      {(text || errors) && (
        <pre className="max-h-72 overflow-auto rounded-md border p-2 font-mono text-xs whitespace-pre-wrap">
          <VisibleText text={[text, exitCode === 0 ? '' : errors].filter(Boolean).join('\n')} />
        </pre>
      )}
      {files.map((file) => (
        <LeftFile key={file.name} name={name} file={file} />
      ))}
    </div>
  );
}

/** Shows a picture or plays a sound; of any other file, only the name and size are shown. */
function LeftFile({ name, file }: { name: string; file: ActionOutput['files'][number] }) {
  const isMedia = /^(image|audio)\//.test(file.type);
  const url = useFileUrl(name, file, isMedia);
  return (
    <figure className="space-y-1">
      {url && file.type.startsWith('image/') && (
        <img src={url} alt={visibleText(file.name)} className="max-h-80 rounded-md border" />
      )}
      {url && file.type.startsWith('audio/') && (
        <audio controls src={url} aria-label={visibleText(file.name)} className="w-full max-w-md" />
      )}
      <figcaption className="text-xs text-faint">
        <VisibleText text={file.name} />, {bytesText(file.bytes)}
      </figcaption>
    </figure>
  );
}

function useFileUrl(
  name: string,
  { blob, type }: ActionOutput['files'][number],
  isWanted: boolean,
): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!isWanted) return;
    let made: string | undefined;
    let isGone = false;
    void client.actionCalls.blob(name, blob).then(
      (content) => {
        if (isGone) return;
        made = URL.createObjectURL(new Blob([content as BlobPart], { type }));
        setUrl(made);
      },
      () => setUrl(undefined),
    );
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [name, blob, type, isWanted]);
  return url;
}
