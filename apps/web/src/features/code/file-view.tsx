import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Download } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Empty, Loading } from '@/components/ui/empty';
import { FilesFailed } from '@/features/session-log/files-failed';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { usePreferences } from '@/lib/preferences';
import { useReadOnly } from '@/lib/role';
import { useDark } from '@/lib/theme';
import { toast } from '@/lib/toasts';
import { DifferenceView } from './difference-view';
import { Editor } from './editor';
import { saveFile } from './file-actions';
import { fileQuery } from './file-content';
import { canPreview, FilePreview } from './file-preview';
import { ImageView } from './image-view';
import { conflictsIn, mergeTexts } from './merge';
import { unsavedKey, useAskBeforeLeaving, useUnsaved } from './unsaved';
import { UnsavedBar } from './unsaved-bar';
import { useSave } from './use-save';

interface FileViewProps {
  path: string;
  line: number;
  visit: number;
}

/** One file in the editor: what the agent changes lands in it, and the user can change and save it. */
export function FileView({ path, line, visit }: FileViewProps) {
  const session = useSessionId();
  const past = useIsPast();
  const began = useLog(({ view }) => view.commits.values().next().value?.args.parent ?? null);
  const recordedStep = useView((view) => view.lastCommit);
  const edit = useView((view) => (view.lastEdit?.args.path === path ? view.lastEdit : null));
  // An edit is shown from when it landed, though its commit comes a little later in the log.
  const edited = useLog(({ view }) => (edit?.id ? view.commits.get(edit.id) : undefined));
  const latest = edited && edited.seq > (recordedStep?.seq ?? 0) ? edited : recordedStep;
  const commit = latest?.args.commit ?? began;
  const step = recordedStep?.seq ?? 0;
  const query = fileQuery({
    session,
    path,
    edit: Math.max(step, edit?.seq ?? 0),
    landed: edit && (edit.seq > step || recordedStep?.id === edit.id) ? edit.args : null,
    commit: past ? commit : null,
  });
  const content = useQuery(query);
  const shown = content.data?.kind === 'text' ? content.data : null;
  const text = shown?.text ?? null;
  const version = shown?.version ?? null;
  const element = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const key = unsavedKey(session, path);
  const unsaved = useUnsaved(({ files }) => files.get(key));
  const setUnsaved = useUnsaved((state) => state.set);
  const { save, saving } = useSave(path, editor);
  const dark = useDark();
  const fixed = useReadOnly() || past;
  const typed = useEffectEvent((now: string | null) =>
    setUnsaved(key, now === null ? null : { base: text ?? '', version, ...unsaved, text: now }),
  );
  // The place stays while the user types, and when nobody is followed.
  const revealing = useEffectEvent(() => usePreferences.getState().follow && !unsaved);
  useAskBeforeLeaving();

  useEffect(() => {
    if (!element.current) return;
    const made = new Editor(element.current, { onEdit: (now) => typed(now) });
    setEditor(made);
    return () => made.dispose();
  }, []);
  useEffect(() => editor?.setDark(dark), [editor, dark]);
  useEffect(() => editor?.setReadOnly(fixed), [editor, fixed]);
  useEffect(() => {
    if (editor && text !== null)
      editor.show(path, text, past ? undefined : useUnsaved.getState().files.get(key)?.text);
  }, [editor, text, path, key, past]);
  useEffect(() => {
    if (editor && edit && text !== null && !content.isPlaceholderData)
      editor.highlight(edit.args.line, edit.args.content.length, revealing());
  }, [editor, edit, text, content.isPlaceholderData]);
  // After what landed: a line that was asked for is shown rather than the begin of a long edit.
  useEffect(() => {
    if (editor && text !== null && line > 0) editor.reveal(line);
  }, [editor, text, line, visit]);

  const conflict =
    unsaved !== undefined && text !== null && !past && !saving && text !== unsaved.base;
  const [comparing, setComparing] = useState(false);
  const merged = conflict ? undefined : unsaved?.merged;
  const sides = conflict && text !== null ? { theirs: text, mine: unsaved.text } : (merged ?? null);
  const compared = comparing && sides !== null;
  useEffect(() => editor?.onSave(conflict ? askToDecide : save));
  const takeTheirs = () => {
    setUnsaved(key, null);
    if (text !== null) editor?.show(path, text);
  };
  const merge = () => {
    if (!unsaved || text === null) return;
    const mine = unsaved.text;
    const joined = mergeTexts(unsaved.base, mine, text).text;
    setUnsaved(key, { text: joined, base: text, version, merged: { mine, theirs: text } });
    editor?.show(path, text, joined);
    editor?.focus();
    setComparing(true);
  };
  const [wantsPreview, setPreview] = useState(false);
  const previewable = text !== null && canPreview(path);
  const preview = previewable && wantsPreview && !conflict;
  return (
    <div className="relative flex h-full flex-col">
      {previewable && (
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
          <FilePreview path={path} text={unsaved?.text ?? text} />
        </div>
      )}
      {unsaved && text !== null && !past && (
        <UnsavedBar
          conflict={conflict}
          compared={compared}
          undecided={merged ? conflictsIn(unsaved.text) : null}
          onMerge={merge}
          onCompare={() => setComparing(!comparing)}
          onSave={save}
          onDiscard={takeTheirs}
          onKeep={() => setUnsaved(key, { text: unsaved.text, base: text, version })}
        />
      )}
      {compared && (
        <>
          <DifferenceView path={path} {...sides} />
          {merged && (
            <p className="shrink-0 border-b bg-sunken px-3 py-0.5 text-xs text-faint">Result</p>
          )}
        </>
      )}
      <div
        ref={element}
        className={clsx('min-h-0 flex-1', text === null && 'invisible', preview && 'hidden')}
      />
      {text === null && (
        <div className="absolute inset-0 bg-panel">
          {content.isError ? (
            <FilesFailed error={content.error} retry={() => void content.refetch()} />
          ) : content.data?.kind === 'image' ? (
            <ImageView path={path} {...content.data} />
          ) : content.data?.kind === 'other' ? (
            <Empty title="No text to show">
              <p>{content.data.why}</p>
              <Button small className="mt-2" onClick={() => saveFile(session, path)}>
                <Download size={12} aria-hidden /> Download
              </Button>
            </Empty>
          ) : (
            <Loading what="the file" />
          )}
        </div>
      )}
    </div>
  );
}

const showAs = [
  { value: 'source', label: 'Source' },
  { value: 'preview', label: 'Preview' },
] as const;

const askToDecide = () =>
  toast('This file changed while you edited it: merge both, take theirs or keep yours, then save.');
