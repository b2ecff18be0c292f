import { useEffect, useEffectEvent, useRef, useState, type RefObject } from 'react';
import type { CodeEdit } from '@/features/session-log/log-view';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { usePreferences } from '@/lib/preferences';
import { useReadOnly } from '@/lib/role';
import { useDark } from '@/lib/theme';
import { Editor } from './editor';
import type { TextFile } from './file-content';
import { unsavedKey, useUnsaved } from './unsaved';

interface EditorOptions {
  path: string;
  /** Null until there is text to show. */
  file: TextFile | null;
  /** The latest edit in this text, to be highlighted. */
  edit: CodeEdit | undefined;
  line: number;
  visit: number;
}

/** Creates an editor in `element` that shows the file, and stores the user’s unsaved changes. */
export function useEditor({ path, file, edit, line, visit }: EditorOptions): {
  editor: Editor | null;
  element: RefObject<HTMLDivElement | null>;
} {
  const element = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const past = useIsPast();
  const fixed = useReadOnly() || past;
  const dark = useDark();
  const key = unsavedKey(useSessionId(), path);
  const text = file?.text ?? null;
  const typed = useEffectEvent((now: string | null) => {
    const { files, set } = useUnsaved.getState();
    const began = { base: text ?? '', version: file?.version ?? null };
    set(key, now === null ? null : { ...began, ...files.get(key), text: now });
  });

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
    if (!editor || !edit || text === null) return;
    // The scroll position is kept while there are unsaved changes, and when Follow is off.
    const reveals = usePreferences.getState().follow && !useUnsaved.getState().files.has(key);
    editor.highlight(edit.args.line, edit.args.content.length, reveals);
  }, [editor, edit, text, key]);
  // Runs after the highlight, so that a requested line takes precedence over an edit.
  useEffect(() => {
    if (editor && text !== null && line > 0) editor.reveal(line);
  }, [editor, text, line, visit]);
  return { editor, element };
}
