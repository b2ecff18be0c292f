import * as monaco from 'monaco-editor/editor/editor.api';
import 'monaco-editor/features/register.all';
import 'monaco-editor/languages/definitions/register.all';
// oxlint-disable-next-line import/default -- Vite generates the worker’s constructor
import EditorWorker from 'monaco-editor/editor/editor.worker?worker';
import { colour } from '@/lib/theme';

interface EditorOptions {
  /** Receives the edited text; null when it equals the saved text again. */
  onEdit(text: string | null): void;
}

self.MonacoEnvironment = { getWorker: () => new EditorWorker() };

const look = {
  automaticLayout: true,
  minimap: { enabled: false },
  fontFamily: "'JetBrains Mono Variable', monospace",
  fontSize: 12.5,
  lineHeight: 19,
  scrollBeyondLastLine: false,
  renderLineHighlight: 'none',
  smoothScrolling: false,
  overviewRulerBorder: false,
  scrollbar: { verticalScrollbarSize: 8, horizontalScrollbarSize: 8 },
  padding: { top: 6 },
  stickyScroll: { enabled: false },
  fixedOverflowWidgets: true,
  links: false,
} as const;

/** The colours of tokens, as in the changes. */
const codeColours = [
  ['comment', 'code-comment'],
  ['keyword', 'code-keyword'],
  ['string', 'code-string'],
  ['regexp', 'code-string'],
  ['number', 'code-number'],
  ['type', 'code-type'],
  ['tag', 'code-keyword'],
  ['attribute.name', 'code-attribute'],
] as const;

/** Brackets have a colour for each of six depths. */
const bracketColours = (): Record<string, string> =>
  Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((depth) => [`editorBracketHighlight.foreground${depth}`, colour('ink')]),
  );

/** A Monaco editor that shows one file at a time. The caller disposes of it. */
export class Editor {
  readonly #editor: monaco.editor.IStandaloneCodeEditor;
  readonly #marks: monaco.editor.IEditorDecorationsCollection;
  readonly #places = new Map<string, monaco.editor.ICodeEditorViewState | null>();
  #path = '';
  /** The saved text as the editor returns it, with uniform line endings. */
  #saved = '';
  /** True while `show` changes the text, which is not an edit by the user. */
  #showing = false;
  #onSave: () => void = () => undefined;

  constructor(element: HTMLElement, { onEdit }: EditorOptions) {
    this.#editor = monaco.editor.create(element, { ...look, ariaLabel: 'File' });
    this.#marks = this.#editor.createDecorationsCollection();
    this.#editor.onDidChangeModelContent(() => {
      const text = this.text();
      if (!this.#showing) onEdit(text === this.#saved ? null : text);
    });
    this.#editor.addCommand(monaco.KeyMod.CtrlCmd | monaco.KeyCode.KeyS, () => this.#onSave());
  }

  onSave(save: () => void): void {
    this.#onSave = save;
  }

  text(): string {
    return valueOf(this.#editor.getModel());
  }

  /** Shows a file, or its unsaved text. If it is already open, only the differing part changes. */
  show(path: string, text: string, unsaved?: string): void {
    const model = path === this.#path ? this.#editor.getModel() : this.#open(path, text);
    if (!model) return;
    this.#saved = alike(text, model.getEOL());
    const wanted = unsaved ?? this.#saved;
    if (this.text() === wanted) return;
    this.#showing = true;
    model.pushEditOperations(null, [difference(model, wanted.replace(mark, ''))], () => null);
    this.#showing = false;
  }

  #open(path: string, text: string): monaco.editor.ITextModel {
    const before = this.#editor.getModel();
    this.#places.set(this.#path, this.#editor.saveViewState());
    this.#path = path;
    const model = monaco.editor.createModel(text, languageOf(path));
    this.#editor.setModel(model);
    before?.dispose();
    this.#editor.restoreViewState(this.#places.get(path) ?? null);
    return model;
  }

  reveal(line: number): void {
    this.#editor.revealLineInCenterIfOutsideViewport(line);
  }

  /** Marks newly edited lines, and scrolls to them if `reveal` is set. The mark fades. */
  highlight(line: number, lines: number, reveal: boolean): void {
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
    if (reveal) this.#editor.revealLinesInCenterIfOutsideViewport(line, line + lines - 1);
  }

  focus(): void {
    this.#editor.focus();
  }

  setReadOnly(readOnly: boolean): void {
    this.#editor.updateOptions({ readOnly });
  }

  setDark(dark: boolean): void {
    monaco.editor.defineTheme('belay', {
      base: dark ? 'vs-dark' : 'vs',
      inherit: true,
      rules: codeColours.map(([token, name]) => ({ token, foreground: colour(name).slice(1) })),
      colors: {
        'editor.background': colour('panel'),
        'editor.foreground': colour('ink'),
        ...bracketColours(),
        'editorGutter.background': colour('panel'),
        'editorLineNumber.foreground': colour('faint'),
        focusBorder: colour('amber'),
        'scrollbarSlider.background': colour('line-strong'),
        'scrollbarSlider.hoverBackground': colour('faint'),
        'scrollbarSlider.activeBackground': colour('faint'),
      },
    });
    monaco.editor.setTheme('belay');
  }

  dispose(): void {
    this.#editor.getModel()?.dispose();
    this.#editor.dispose();
  }
}

/** A read-only Monaco comparison of two texts of a file. The caller disposes of it. */
export class DiffEditor {
  readonly #editor: monaco.editor.IStandaloneDiffEditor;
  readonly #models: monaco.editor.IDiffEditorModel;
  readonly #view: monaco.editor.IDiffEditorViewModel;

  constructor(element: HTMLElement, path: string) {
    const options = { ...look, readOnly: true, useInlineViewWhenSpaceIsLimited: false };
    this.#editor = monaco.editor.createDiffEditor(element, options);
    // Monaco makes all hovers, such as those of suggestions, with the services of the newest editor, and those of a
    // comparison end with it: https://github.com/microsoft/monaco-editor/issues/4612. Those of an editor do not.
    monaco.editor.create(document.createElement('div')).dispose();
    const model = () => monaco.editor.createModel('', languageOf(path));
    this.#models = { original: model(), modified: model() };
    this.#view = this.#editor.createViewModel(this.#models);
    this.#editor.setModel(this.#view);
  }

  show(theirs: string, mine: string): void {
    this.#models.original.setValue(theirs);
    this.#models.modified.setValue(mine);
  }

  dispose(): void {
    this.#editor.dispose();
    // The editor’s own view model would keep comparing, and throw when its texts are disposed of.
    this.#view.dispose();
    this.#models.original.dispose();
    this.#models.modified.dispose();
  }
}

/** A byte order mark belongs to the file, not to its text in a model. */
const mark = /^\uFEFF/;

const valueOf = (model: monaco.editor.ITextModel | null): string =>
  model?.getValue(monaco.editor.EndOfLinePreference.TextDefined, true) ?? '';

/** Converts all line endings to `end`, since a model only has one kind. */
const alike = (text: string, end: string): string => text.replaceAll(/\r\n|\r|\n/g, end);

/** The single edit that turns a model’s text into another, except their common start and end. */
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
