// oxlint-disable no-control-regex
const token =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*([0-~])|([\0-\x1f\x7f])|[^\0-\x1f\x7f]+/g;

/** Limits cursor movements, so that no sequence makes an endless line. */
const widest = 1_000;

/** Parameters of a sequence; an omitted one is 0, which counts as 1 in `count`. */
interface Numbers {
  first: number;
  count: number;
  second: number;
}

/**
 * Follows a terminal's output as far as the remaining text requires: overwritten progress lines, erased and moved
 * text, and the alternate screen of full-screen programs, which disappears when they leave it. Colors are dropped.
 * Columns count code points, so a wide character takes one.
 */
export class TextScreen {
  readonly #rows: number;
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  /** The first visible line; addressed positions are relative to it. */
  #top = 0;
  #regionTop = 0;
  #regionBottom: number;
  /** Set while the alternate screen is active. */
  #before: { row: number; column: number; top: number } | undefined;
  #cleared = false;
  #printed = false;
  #saved = { row: 0, column: 0 };

  constructor(rows: number) {
    this.#rows = rows;

    this.#regionBottom = rows - 1;
  }

  write(text: string): void {
    for (const match of text.matchAll(token)) {
      const [all, parameters, final, simple, control] = match;
      if (final !== undefined) this.#sequence(final, parameters ?? '');
      else if (simple !== undefined) this.#simple(simple);
      else if (control !== undefined) this.#control(control);
      else if (!all.startsWith('\x1b')) this.#print(all);
    }
  }

  toString(): string {
    return this.#lines.map((line) => line.join('').trimEnd()).join('\n');
  }

  #line(row = this.#row): string[] {
    while (this.#lines.length <= row) this.#lines.push([]);
    return this.#lines[row] ?? [];
  }

  #print(text: string): void {
    const line = this.#line();
    this.#printed = true;
    this.#column = Math.min(this.#column, Math.max(widest, line.length));
    while (line.length < this.#column) line.push(' ');
    for (const character of text) line[this.#column++] = character;
  }

  #control(control: string): void {
    if (control === '\n' || control === '\v' || control === '\f') this.#feed();
    else if (control === '\r') this.#column = 0;
    else if (control === '\b') this.#left(1);
    else if (control === '\t') this.#right(8 - (this.#column % 8));
  }

  #feed(): void {
    const bottom = this.#top + this.#regionBottom;
    const partial = this.#regionTop > 0 || this.#regionBottom < this.#rows - 1 || this.#before;
    if (this.#row === bottom && partial) {
      this.#remove(this.#top + this.#regionTop, bottom);
      return;
    }
    this.#row += 1;
    this.#line();
    this.#top = Math.max(this.#top, this.#row - this.#rows + 1);
  }

  #simple(final: string): void {
    if (final === '7') this.#save();
    else if (final === '8') this.#restore();
    else if (final === 'E') this.#control('\n');
    else if (final === 'M') {
      if (this.#row === this.#top + this.#regionTop) this.#insert(this.#row);
      else this.#row = Math.max(0, this.#row - 1);
    }
  }

  /** Control sequences by their final character. */
  readonly #sequences: Readonly<Record<string, (numbers: Numbers) => void>> = {
    '@': ({ count }) => this.#widen(count),
    A: ({ count }) => this.#move(-count),
    B: ({ count }) => this.#move(count),
    C: ({ count }) => this.#right(count),
    D: ({ count }) => this.#left(count),
    G: ({ count }) => this.#toColumn(count),
    '`': ({ count }) => this.#toColumn(count),
    H: ({ count, second }) => this.#moveTo(count, second || 1),
    f: ({ count, second }) => this.#moveTo(count, second || 1),
    J: ({ first }) => this.#eraseScreen(first),
    K: ({ first }) => this.#eraseLine(first),
    L: ({ count }) => this.#times(count, () => this.#insert(this.#row)),
    M: ({ count }) => this.#times(count, () => this.#remove(this.#row)),
    P: ({ count }) => this.#line().splice(this.#column, count),
    S: ({ count }) => this.#times(count, () => this.#remove(this.#top + this.#regionTop)),
    T: ({ count }) => this.#times(count, () => this.#insert(this.#top + this.#regionTop)),
    X: ({ count }) => this.#line().fill(' ', this.#column, this.#column + count),
    d: ({ count }) => this.#toRow(count),
    r: ({ count, second }) => this.#region(count, second || this.#rows),
    s: () => this.#save(),
    u: () => this.#restore(),
  };

  #sequence(final: string, parameters: string): void {
    if (final === 'h' || final === 'l') {
      if (/^\?(1049|1047|47)$/.test(parameters)) this.#alternate(final === 'h');
      return;
    }
    const [first = 0, second = 0] = parameters
      .replace(/^[<=>?]/, '')
      .split(';')
      .map(Number);
    this.#sequences[final]?.({ first, count: first || 1, second });
  }

  #left(count: number): void {
    this.#column = Math.max(0, this.#column - count);
  }

  #right(count: number): void {
    const limit = Math.max(widest, this.#line().length);
    this.#column = Math.min(this.#column + count, limit);
  }

  #widen(count: number): void {
    const line = this.#line();
    const inserted = Math.min(count, widest - line.length);
    if (inserted > 0 && this.#column < line.length) {
      line.splice(this.#column, 0, ...Array<string>(inserted).fill(' '));
    }
  }

  #times(count: number, step: () => void): void {
    for (let done = 0; done < Math.min(count, this.#rows); done += 1) step();
  }

  #region(from: number, to: number): void {
    this.#regionTop = Math.min(from, this.#rows) - 1;
    this.#regionBottom = Math.min(to, this.#rows) - 1;
    this.#moveTo(1, 1);
  }

  #move(rows: number): void {
    this.#row = Math.min(
      this.#top + this.#rows - 1,
      Math.max(this.#before ? this.#top : 0, this.#row + rows),
    );
  }

  #moveTo(row: number, column: number): void {
    this.#toRow(row);
    this.#toColumn(column);
  }

  #toRow(row: number): void {
    this.#row = this.#top + Math.min(row, this.#rows) - 1;
  }

  #toColumn(column: number): void {
    this.#column = Math.min(column, widest) - 1;
  }

  #save(): void {
    this.#saved = { row: this.#row - this.#top, column: this.#column };
  }

  #restore(): void {
    this.#row = this.#top + this.#saved.row;
    this.#column = this.#saved.column;
  }

  #insert(row: number): void {
    const bottom = this.#top + this.#regionBottom;
    this.#line(bottom);
    this.#lines.splice(row, 0, []);
    this.#lines.splice(bottom + 1, 1);
  }

  #remove(row: number, bottom = this.#top + this.#regionBottom): void {
    this.#line(bottom);
    this.#lines.splice(row, 1);
    this.#lines.splice(bottom, 0, []);
  }

  #eraseLine(mode: number): void {
    const line = this.#line();
    if (mode === 0) line.length = Math.min(line.length, this.#column);
    else if (mode === 1) line.fill(' ', 0, this.#column + 1);
    else line.length = 0;
  }

  #eraseScreen(mode: number): void {
    if (mode === 0) {
      this.#eraseLine(0);
      this.#lines.length = Math.min(this.#lines.length, this.#row + 1);
    } else if (mode >= 2) {
      // The first clearing keeps earlier output; later ones redraw the same picture.
      if (!this.#cleared && !this.#before && this.#printed) {
        this.#row += this.#lines.length - this.#top;
        this.#top = this.#lines.length;
        this.#cleared = true;
      } else {
        this.#lines.length = this.#top;
      }
      this.#line();
    }
  }

  #alternate(on: boolean): void {
    if (on === (this.#before !== undefined)) return;
    this.#regionTop = 0;
    this.#regionBottom = this.#rows - 1;
    if (on) {
      this.#before = { row: this.#row, column: this.#column, top: this.#top };
      this.#top = this.#row = this.#lines.length;
      this.#column = 0;
      this.#line();
    } else if (this.#before) {
      this.#lines.length = this.#top;
      ({ row: this.#row, column: this.#column, top: this.#top } = this.#before);
      this.#before = undefined;
    }
  }
}
