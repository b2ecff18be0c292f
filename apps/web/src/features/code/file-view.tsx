import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Empty, Loading } from '@/components/ui/empty';
import { useDark } from '@/lib/theme';
import { useReadOnly } from '@/lib/role';
import { FilesFailed } from '../sessions/asleep';
import { useIsPast, useLog, useSessionId, useView } from '../sessions/session-context';
import { Editor } from '@/features/code/editor';
import { fileQuery } from './file-content';
import { ImageView } from './image-view';
import { unsavedKey, useAskBeforeLeaving, useUnsaved } from './unsaved';
import { UnsavedBar } from './unsaved-bar';
import { useSave } from './use-save';

interface FileViewProps {
  path: string;
  line: number;
  visit: number;
}

/** One file in the editor: what the agent changes lands in it, and a person can change and save it. */
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
    commit: past ? commit : null,
  });
  const content = useQuery(query);
  const text = content.data?.kind === 'text' ? content.data.text : null;
  const element = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const key = unsavedKey(session, path);
  const unsaved = useUnsaved(({ files }) => files.get(key));
  const setUnsaved = useUnsaved((state) => state.set);
  const { save, saving } = useSave(path, editor);
  const dark = useDark();
  const fixed = useReadOnly() || past;
  const typed = useEffectEvent((now: string | null) =>
    setUnsaved(key, now === null ? null : { text: now, base: unsaved?.base ?? text ?? '' }),
  );
  useAskBeforeLeaving();

  useEffect(() => {
    if (!element.current) return;
    const made = new Editor(element.current, { onEdit: (now) => typed(now) });
    setEditor(made);
    return () => made.dispose();
  }, []);
  useEffect(() => editor?.onSave(save));
  useEffect(() => editor?.setDark(dark), [editor, dark]);
  useEffect(() => editor?.setReadOnly(fixed), [editor, fixed]);
  useEffect(() => {
    if (editor && text !== null)
      editor.show(path, text, past ? undefined : useUnsaved.getState().files.get(key)?.text);
  }, [editor, text, path, key, past]);
  useEffect(() => {
    if (editor && edit && text !== null && !content.isPlaceholderData)
      editor.highlight(edit.args.line, edit.args.content.length);
  }, [editor, edit, text, content.isPlaceholderData]);
  // After what landed: a line that was asked for is shown rather than the begin of a long edit.
  useEffect(() => {
    if (editor && text !== null && line > 0) editor.reveal(line);
  }, [editor, text, line, visit]);

  const takeTheirs = () => {
    setUnsaved(key, null);
    if (text !== null) editor?.show(path, text);
  };
  return (
    <div className="relative flex h-full flex-col">
      {unsaved && text !== null && !past && (
        <UnsavedBar
          conflict={!saving && text !== unsaved.base}
          onSave={save}
          onDiscard={takeTheirs}
          onKeep={() => setUnsaved(key, { ...unsaved, base: text })}
        />
      )}
      <div
        ref={element}
        className={text === null ? 'invisible min-h-0 flex-1' : 'min-h-0 flex-1'}
      />
      {text === null && (
        <div className="absolute inset-0 bg-panel">
          {content.isError ? (
            <FilesFailed error={content.error} retry={() => void content.refetch()} />
          ) : content.data?.kind === 'image' ? (
            <ImageView path={path} {...content.data} />
          ) : content.data?.kind === 'other' ? (
            <Empty title="No text to show">{content.data.why}</Empty>
          ) : (
            <Loading what="the file" />
          )}
        </div>
      )}
    </div>
  );
}
