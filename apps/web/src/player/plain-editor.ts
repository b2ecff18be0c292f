/**
 * Shows a file as plain text, since a recording needs no full editor. The caller must dispose it.
 */
export class Editor {
  readonly #lines = document.createElement('div');

  constructor(element: HTMLElement) {
    this.#lines.className = 'view-lines h-full overflow-auto py-1.5 font-mono text-xs leading-4.5';
    this.#lines.tabIndex = 0;
    element.append(this.#lines);
  }

  show(_path: string, text: string): void {
    this.#lines.replaceChildren(...text.split('\n').map(drawLine));
  }

  reveal(line: number): void {
    this.#lines.children[line - 1]?.scrollIntoView({ block: 'nearest' });
  }

  highlight(line: number, lines: number): void {
    for (const element of [...this.#lines.children].slice(line - 1, line - 1 + lines))
      element.classList.add('landed');
    this.reveal(line);
  }

  text = (): string => '';
  onSave(): void {}
  setReadOnly(): void {}
  setDark(): void {}

  dispose(): void {
    this.#lines.remove();
  }
}

/** Files of a recording cannot be edited, so versions are never compared. */
export class DiffEditor {
  show(): void {}
  dispose(): void {}
}

function drawLine(text: string, index: number): HTMLElement {
  const line = document.createElement('div');
  line.className = 'flex w-max min-w-full whitespace-pre';
  const number = document.createElement('span');
  number.className = 'w-12 shrink-0 pr-3 text-right text-faint select-none';
  number.textContent = String(index + 1);
  line.append(number, text || ' ');
  return line;
}
