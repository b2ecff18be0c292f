import { useEffect, useRef, useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Empty, Failed, Loading } from '@/components/ui/empty';
import { client } from '@/lib/server';
import { attempt, say } from '@/lib/toasts';
import { useDark } from '@/lib/theme';
import { useIsPast, useLog, useSessionId, useView } from '../sessions/session-context';
import { Editor } from '@/features/code/editor';
import { fileQuery } from './file-content';

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
  const content = useQuery(
    fileQuery({
      session,
      path,
      edit: Math.max(step, edit?.seq ?? 0),
      commit: past ? commit : null,
    }),
  );
  const element = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const [dirty, setDirty] = useState(false);
  const save = useSave(session, path, editor, () => setDirty(false));
  const dark = useDark();

  useEffect(() => {
    if (!element.current) return;
    const made = new Editor(element.current, { onDirty: setDirty });
    setEditor(made);
    return () => made.dispose();
  }, []);
  useEffect(() => editor?.onSave(save));
  useEffect(() => editor?.setDark(dark), [editor, dark]);
  useEffect(() => editor?.setReadOnly(past), [editor, past]);
  useEffect(() => {
    if (editor && content.data && !content.data.binary) editor.show(path, content.data.text);
  }, [editor, content.data, path]);
  useEffect(() => {
    if (editor && content.data && line > 0) editor.reveal(line);
  }, [editor, content.data, line, visit]);
  useEffect(() => {
    if (editor && edit && content.data && !content.isPlaceholderData)
      editor.highlight(edit.args.line, edit.args.content.length);
  }, [editor, edit, content.data, content.isPlaceholderData]);

  const covered = content.isError || content.data?.binary || !content.data;
  return (
    <div className="relative flex h-full flex-col">
      {dirty && (
        <div className="flex items-center gap-2 border-b bg-sunken px-3 py-1 text-xs">
          <span className="flex-1">You changed this file. It is not saved.</span>
          <Button small onClick={save}>
            <Save size={12} aria-hidden /> Save
          </Button>
        </div>
      )}
      <div ref={element} className={covered ? 'invisible min-h-0 flex-1' : 'min-h-0 flex-1'} />
      {covered && (
        <div className="absolute inset-0 bg-panel">
          {content.isError ? (
            <Failed error={content.error} retry={() => void content.refetch()} />
          ) : content.data?.binary ? (
            <Empty title="A binary file">It has no text to show.</Empty>
          ) : (
            <Loading what="the file" />
          )}
        </div>
      )}
    </div>
  );
}

function useSave(session: string, path: string, editor: Editor | null, done: () => void) {
  const cache = useQueryClient();
  return () => {
    if (!editor) return;
    const text = editor.text();
    attempt(async () => {
      await client.sessions.call(session, 'files.write', { path, content: text });
      editor.saved();
      done();
      say(`Saved ${path}.`);
      await cache.invalidateQueries({ queryKey: ['file', session, path] });
    });
  };
}
