/** Writes a screen row by row, and later only changed rows, so that nothing flickers, even over SSH. */
export class ScreenWriter {
  #rows: string[] = [];

  constructor(private readonly write: (text: string) => void) {}

  enter(): void {
    // Enables the alternate screen and bracketed paste.
    this.write('\u001b[?1049h\u001b[?2004h\u001b[2J');
  }

  leave(): void {
    this.write('\u001b[?2026l\u001b[?2004l\u001b[?25h\u001b[0m\u001b[?1049l');
  }

  /** After a resize, every row must be written again. */
  forget(): void {
    this.#rows = [];
    this.write('\u001b[2J');
  }

  draw(rows: string[], cursor: { row: number; column: number } | undefined): void {
    const changed = rows.flatMap((row, index) =>
      row === this.#rows[index] ? [] : [`\u001b[${index + 1};1H${row}`],
    );
    this.#rows = rows;
    const place = cursor ? `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h` : '';
    this.write(`\u001b[?2026h\u001b[?25l${changed.join('')}${place}\u001b[?2026l`);
  }
}
