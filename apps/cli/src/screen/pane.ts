import { visibleText } from '@belay/protocol';
import { Terminal, type IBufferCell } from '@xterm/headless';

const scrollback = 5_000;

/**
 * One part of the screen. An emulator processes its text, including wide characters, wrapping and escape sequences.
 * Its output consists of characters and styles only, so no sequence from a sandbox reaches the user’s terminal.
 */
export class Pane {
  readonly #terminal: Terminal;
  /** The number of lines scrolled up from the end. */
  #up = 0;

  constructor(columns: number, rows: number) {
    const size = { cols: Math.max(2, columns), rows: Math.max(1, rows) };
    this.#terminal = new Terminal({ ...size, scrollback, allowProposedApi: true });
  }

  get cursor(): { column: number; row: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { column: cursorX, row: cursorY };
  }

  /** Resolves when it is shown. */
  write(data: string | Uint8Array): Promise<void> {
    return new Promise((done) => this.#terminal.write(data, done));
  }

  reset(): void {
    this.#terminal.reset();
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(Math.max(2, columns), Math.max(1, rows));
  }

  scroll(lines: number): void {
    const { baseY } = this.#terminal.buffer.active;
    this.#up = Math.min(baseY, Math.max(0, this.#up + lines));
  }

  get isScrolled(): boolean {
    return this.#up > 0;
  }

  /** This many rows of exactly this many columns, with styles, each of which ends in its row. */
  rows(columns: number, count: number): string[] {
    const { active } = this.#terminal.buffer;
    const top = Math.max(0, active.baseY - this.#up);
    const cell = active.getNullCell();
    return Array.from({ length: count }, (_, index) => {
      const line = index < this.#terminal.rows ? active.getLine(top + index) : undefined;
      let [text, style, used] = ['', '', 0];
      for (let x = 0; line && x < Math.min(columns, this.#terminal.cols); x++) {
        const found = line.getCell(x, cell);
        const width = found?.getWidth() ?? 1;
        if (!found || width === 0) continue;
        if (used + width > columns) break;
        const next = styleOf(found);
        if (next !== style) text += `\u001b[0${next}m`;
        style = next;
        text += signOf(found.getChars(), width);
        used += width;
      }
      return `${text}\u001b[0m${' '.repeat(columns - used)}`;
    });
  }
}

/** Limits a character to its cell, whatever the sandbox wrote. */
function signOf(chars: string, width: number): string {
  const shown = visibleText(chars).replaceAll(/[\n\t]/g, '');
  return shown === '' ? ' '.repeat(width) : shown;
}

function styleOf(cell: IBufferCell): string {
  const flags = [
    cell.isBold() ? ';1' : '',
    cell.isDim() ? ';2' : '',
    cell.isItalic() ? ';3' : '',
    cell.isUnderline() ? ';4' : '',
    cell.isInverse() ? ';7' : '',
  ];
  const front = colour(38, cell.getFgColor(), cell);
  return flags.join('') + (cell.isFgDefault() ? '' : front(cell.isFgRGB())) + background(cell);
}

const background = (cell: IBufferCell): string =>
  cell.isBgDefault() ? '' : colour(48, cell.getBgColor(), cell)(cell.isBgRGB());

const colour =
  (base: 38 | 48, value: number, _cell: IBufferCell) =>
  (isRgb: boolean): string =>
    isRgb
      ? `;${base};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}`
      : `;${base};5;${value}`;
