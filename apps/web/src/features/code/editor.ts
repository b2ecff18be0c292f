import * as monaco from 'monaco-editor/editor/editor.api';
import 'monaco-editor/features/register.all';
import 'monaco-editor/languages/definitions/register.all';
// oxlint-disable-next-line import/default -- Vite makes the worker's constructor
import EditorWorker from 'monaco-editor/editor/editor.worker?worker';
import { colour } from '@/lib/theme';

interface EditorOptions {
  onDirty(dirty: boolean): void;
}

self.MonacoEnvironment = { getWorker: () => new EditorWorker() };

/** Monaco with one file in it. The caller disposes it. */
export class Editor {
  readonly #editor: monaco.editor.IStandaloneCodeEditor;
  readonly #marks: monaco.editor.IEditorDecorationsCollection;
  readonly #onDirty: (dirty: boolean) => void;
  #path = '';
  #base = '';
  #onSave: () => void = () => undefined;

  constructor(element: HTMLElement, { onDirty }: EditorOptions) {
    this.#onDirty = onDirty;
    this.#editor = monaco.editor.create(element, {
      automaticLayout: true,
      minimap: { enabled: false },
      fontFamily: "'JetBrains Mono Variable', monospace",
      fontSize: 12.5,
      lineHeight: 19,
      scrollBeyondLastLine: false,
      renderLineHighlight: 'none',
      smoothScrolling: false,
      overviewRulerBorder: false,
      padding: { top: 6 },
      stickyScroll: { enabled: false },
      fixedOverflowWidgets: true,
      ariaLabel: 'File',
      links: false,
    });
    this.#marks = this.#editor.createDecorationsCollection();
    this.#editor.onDidChangeModelContent(() => this.#onDirty(this.text() !== this.#base));
    this.#editor.addCommand(monaco.KeyMod.CtrlCmd | monaco.KeyCode.KeyS, () => this.#onSave());
  }

  onSave(save: () => void): void {
    this.#onSave = save;
  }

  text(): string {
    return this.#editor.getModel()?.getValue() ?? '';
  }

  /** Shows a file. What a person changed and did not save stays; only lines that differ are touched. */
  show(path: string, text: string): void {
    if (path !== this.#path) {
      this.#path = path;
      this.#base = text;
      this.#editor.getModel()?.dispose();
      this.#editor.setModel(monaco.editor.createModel(text, languageOf(path)));
      this.#onDirty(false);
      return;
    }
    const model = this.#editor.getModel();
    const untouched = this.text() === this.#base;
    if (!model || !untouched || text === this.#base) return;
    this.#base = text;
    model.applyEdits([difference(model, text)]);
    this.#onDirty(false);
  }

  saved(): void {
    this.#base = this.text();
  }

  reveal(line: number): void {
    this.#editor.revealLineInCenterIfOutsideViewport(line);
  }

  /** Marks lines that just landed; the mark fades. */
  highlight(line: number, lines: number): void {
    if (line < 1 || lines < 1) return this.#marks.clear();
    const range = new monaco.Range(line, 1, line + lines - 1, 1);
    this.#marks.set([
      {
        range,
        options: {
          isWholeLine: true,
          className: 'landed',
          linesDecorationsClassName: 'landed-line',
        },
      },
    ]);
    this.#editor.revealLinesInCenterIfOutsideViewport(line, line + lines - 1);
  }

  setReadOnly(readOnly: boolean): void {
    this.#editor.updateOptions({ readOnly });
  }

  setDark(dark: boolean): void {
    monaco.editor.defineTheme('belay', {
      base: dark ? 'vs-dark' : 'vs',
      inherit: true,
      rules: [],
      colors: {
        'editor.background': colour('panel'),
        'editorGutter.background': colour('panel'),
        'editorLineNumber.foreground': colour('faint'),
        focusBorder: colour('amber'),
      },
    });
    monaco.editor.setTheme('belay');
  }

  dispose(): void {
    this.#editor.getModel()?.dispose();
    this.#editor.dispose();
  }
}

/** The one edit that turns a model's text into another: what is the same at both ends stays. */
function difference(model: monaco.editor.ITextModel, text: string) {
  const before = model.getValue();
  let start = 0;
  const shorter = Math.min(before.length, text.length);
  while (start < shorter && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const range = monaco.Range.fromPositions(
    model.getPositionAt(start),
    model.getPositionAt(before.length - end),
  );
  return { range, text: text.slice(start, text.length - end) };
}

function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const found = monaco.languages
    .getLanguages()
    .find(
      ({ extensions = [], filenames = [] }) =>
        filenames.some((each) => each.toLowerCase() === name) ||
        extensions.some((extension) => name.endsWith(extension)),
    );
  return found?.id ?? 'plaintext';
}
