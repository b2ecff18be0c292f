interface Size {
  columns: number;
  rows: number;
}

/** The parts of the screen: title, chat and terminal, notes, and input line. */
export interface Layout {
  /** Whether chat and terminal are side by side. */
  wide: boolean;
  chat: Size;
  /** The size without the line above it. */
  terminal: Size;
}

/** The width from which chat and terminal are side by side. */
const wideColumns = 110;

export function layoutOf(columns: number, rows: number): Layout {
  const body = Math.max(3, rows - 3);
  if (columns >= wideColumns) {
    const half = Math.floor((columns - 1) / 2);
    return {
      wide: true,
      chat: { columns: half, rows: body },
      terminal: { columns: columns - half - 1, rows: body - 1 },
    };
  }
  const chat = Math.max(1, Math.ceil(body * 0.6));
  return {
    wide: false,
    chat: { columns, rows: chat },
    terminal: { columns, rows: Math.max(1, body - chat - 1) },
  };
}
