import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Download } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Empty, Loading } from '@/components/ui/empty';
import { FilesFailed } from '@/features/session-files/files-failed';
import { useSessionId } from '@/features/session-log/session-context';
import { DifferenceView } from './difference-view';
import { saveFile } from './file-actions';
import type { FileContent } from './file-content';
import { canPreview, FilePreview } from './file-preview';
import { ImageView } from './image-view';
import { UnsavedBar } from './unsaved-bar';
import { useEditor } from './use-editor';
import { useFileContent } from './use-file-content';
import { useUnsavedChanges } from './use-unsaved-changes';

interface FileViewProps {
  path: string;
  line: number;
  visit: number;
}

/** A file in the editor, which shows the agent’s edits; the user can change and save the file. */
export function FileView({ path, line, visit }: FileViewProps) {
  const { content, edit } = useFileContent(path);
  const file = content.data?.kind === 'text' ? content.data : null;
  const landed = content.isPlaceholderData ? undefined : edit;
  const { editor, element } = useEditor({ path, file, edit: landed, line, visit });
  const { text, conflict, compared, bar } = useUnsavedChanges(path, file, editor);
  const [wantsPreview, setPreview] = useState(false);
  const canShowPreview = file !== null && canPreview(path);
  const preview = canShowPreview && wantsPreview && !conflict;
  return (
    <div className="relative flex h-full flex-col">
      {canShowPreview && (
        <div className="flex shrink-0 justify-end border-b px-2 py-0.5">
          <Choice<'source' | 'preview'>
            label="Show as"
            value={preview ? 'preview' : 'source'}
            options={showAs}
            onChange={(next) => setPreview(next === 'preview')}
          />
        </div>
      )}
      {preview && (
        <div className="min-h-0 flex-1">
          <FilePreview path={path} text={text} />
        </div>
      )}
      {bar && <UnsavedBar {...bar} />}
      {compared && <DifferenceView path={path} {...compared} hasResult={!conflict} />}
      <div
        ref={element}
        className={clsx('min-h-0 flex-1', !file && 'invisible', preview && 'hidden')}
      />
      {!file && (
        <div className="absolute inset-0 bg-panel">
          <WithoutText path={path} content={content} />
        </div>
      )}
    </div>
  );
}

const showAs = [
  { value: 'source', label: 'Source' },
  { value: 'preview', label: 'Preview' },
] as const;

interface WithoutTextProps {
  path: string;
  content: UseQueryResult<FileContent>;
}

/** Shown in place of the editor for a file without text, or until it has loaded. */
function WithoutText({ path, content: { data, error, refetch } }: WithoutTextProps) {
  const session = useSessionId();
  if (error) return <FilesFailed error={error} retry={() => void refetch()} />;
  if (data?.kind === 'image') return <ImageView path={path} {...data} />;
  if (data?.kind !== 'other') return <Loading what="the file" />;
  return (
    <Empty title="No text to show">
      <p>{data.why}</p>
      <Button small className="mt-2" onClick={() => saveFile(session, path)}>
        <Download size={12} aria-hidden /> Download
      </Button>
    </Empty>
  );
}
