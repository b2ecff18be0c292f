import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal, type ILink, type ITheme } from '@xterm/xterm';
import type { TerminalBuffer } from '@/features/session-log/terminal-buffer';
import { fileRefsIn, type FileRef } from '@/lib/file-refs';
import { bytesText } from '@belay/protocol';
import { colour } from '@/lib/theme';
import { ShortWrites } from './short-writes';

/**
 * The bytes per write: xterm yields to the page between writes, but never within one. This many
 * bytes are parsed within a few milliseconds, even if they are short lines, which cost the most.
 */
const piece = 512;

/** Maximum bytes shown at a past moment: dragging the scrubber draws them at each step. */
const reach = 256 * 1024;

/** How long a panel must keep its size before it is reported, in milliseconds. */
const settledDelayMs = 150;

export interface PanelSize {
  columns: number;
  rows: number;
  /** In pixels. */
  width: number;
}

interface EmulatorOptions {
  name: string;
  onKeys(data: string): Promise<unknown>;
  /** Receives the size that fits the panel. */
  onFit(panelSize: PanelSize): void;
  onFind(): void;
  /** A file path in the output was clicked. */
  onFile(file: FileRef): void;
}

/** An xterm that shows an exact range of a terminal’s bytes. The caller disposes of it. */
export class TerminalEmulator {
  readonly #terminal: Terminal;
  readonly #search = new SearchAddon();
  readonly #fit = new FitAddon();
  readonly #observer: ResizeObserver;
  readonly #options: EmulatorOptions;
  readonly #writes = new ShortWrites((bytes, drawn) => this.#write(bytes, drawn));
  #typing = false;
  /** The offset of the first byte shown; those up to `#written` are shown. */
  #first = 0;
  #written = 0;
  #fitting: ReturnType<typeof setTimeout> | undefined;
  /** The timer of the next step of opening: first the terminal itself, then WebGL. */
  #opening: ReturnType<typeof setTimeout>;

  constructor(element: HTMLElement, options: EmulatorOptions) {
    this.#options = options;
    this.#terminal = new Terminal({
      allowProposedApi: true,
      fontFamily: "'JetBrains Mono Variable', monospace",
      fontSize: 13,
      lineHeight: 1.25,
      scrollback: 20_000,
      disableStdin: true,
      cursorInactiveStyle: 'outline',
      minimumContrastRatio: 4.5,
      screenReaderMode: false,
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(this.#search);
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.loadAddon(new WebLinksAddon());
    this.#terminal.registerLinkProvider({
      provideLinks: (row, found) => found(this.#filesIn(row)),
    });
    this.#terminal.unicode.activeVersion = '11';
    // Opens after size and colours are set, so that it is measured and drawn only once.
    this.#opening = setTimeout(() => this.#open(element));
    this.#terminal.onData((data) => this.#typing && void options.onKeys(data));
    this.#terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    this.#observer = new ResizeObserver(() => this.#fitSoon());
    this.#observer.observe(element);
  }

  /** Resolves when the bytes are drawn, for back pressure; undefined if they are drawn already. */
  append(bytes: Uint8Array, offset: number): Promise<void> | undefined {
    if (offset + bytes.length <= this.#written) return undefined;
    this.#written = offset + bytes.length;
    return this.#writes.add(bytes);
  }

  /**
   * Shows the bytes up to an offset. Going back redraws only the last `reach` bytes before it; at
   * the end of the buffer, all of its bytes are shown.
   */
  showUpTo(buffer: TerminalBuffer, end: number): void {
    const whole = end === buffer.end;
    const first = buffer.firstLine;
    if (end < this.#written || this.#written < first || (whole && this.#first > first)) {
      this.#writes.flush();
      this.#terminal.reset();
      this.#first = whole ? first : buffer.lineFrom(Math.max(buffer.start, end - reach));
      this.#written = this.#first;
      if (this.#first > 0) this.#terminal.write(noticeOf(this.#first));
    }
    const bytes = buffer.slice(this.#written, end);
    if (bytes.length) void this.append(bytes, this.#written);
  }

  /** Scrolls to the line of a byte, estimated by counting the line breaks after it. */
  scrollTo(buffer: TerminalBuffer, offset: number): void {
    let lines = 0;
    for (const byte of buffer.slice(offset)) if (byte === 10) lines += 1;
    const { baseY, cursorY } = this.#terminal.buffer.active;
    this.#terminal.scrollToLine(Math.max(0, baseY + cursorY - lines - 1));
  }

  setTyping(typing: boolean): void {
    this.#typing = typing;
    this.#terminal.options.disableStdin = !typing;
    this.#terminal.options.cursorBlink = typing;
    if (typing) this.#terminal.focus();
  }

  /** Sets the size that the program writes for, so that its output is drawn as intended. */
  resize(columns: number, rows: number): void {
    if (columns !== this.#terminal.cols || rows !== this.#terminal.rows)
      this.#terminal.resize(columns, rows);
  }

  style({ dark, size }: { dark: boolean; size: number }): void {
    this.#terminal.options.theme = {
      background: colour('panel'),
      foreground: colour('ink'),
      cursor: colour('ink'),
      scrollbarSliderBackground: colour('line-strong'),
      scrollbarSliderHoverBackground: colour('faint'),
      scrollbarSliderActiveBackground: colour('faint'),
      ...(dark ? darkTheme : lightTheme),
    };
    this.#terminal.options.fontSize = size;
    this.#fitSoon();
  }

  find(text: string, direction: 'next' | 'previous'): void {
    const decorations = {
      matchBackground: '#f5b83d',
      matchOverviewRuler: '#f5b83d',
      activeMatchBackground: '#ff9f1c',
      activeMatchColorOverviewRuler: '#ff9f1c',
    };
    if (direction === 'next') this.#search.findNext(text, { decorations });
    else this.#search.findPrevious(text, { decorations });
  }

  /** Reports the current match, counted from 1 (0 for none), and the number of matches. */
  onFound(listener: (place: number, count: number) => void): () => void {
    const found = this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
      listener(resultIndex + 1, resultCount),
    );
    return () => found.dispose();
  }

  endSearch(): void {
    this.#search.clearDecorations();
    this.#terminal.focus();
  }

  dispose(): void {
    this.#observer.disconnect();
    clearTimeout(this.#fitting);
    clearTimeout(this.#opening);
    this.#writes.dispose();
    this.#terminal.dispose();
  }

  #open(element: HTMLElement): void {
    this.#terminal.open(element);
    this.#terminal.textarea?.setAttribute(
      'aria-label',
      `Terminal ${this.#options.name}; press Alt and a number to leave it`,
    );
    if (this.#typing) this.#terminal.focus();
    // Creating a WebGL context is slow: the first bytes are drawn before it is available.
    this.#opening = setTimeout(() => this.#drawFast(), 100);
  }

  #write(bytes: Uint8Array, drawn: () => void): void {
    const last = Math.max(0, Math.ceil(bytes.length / piece) - 1) * piece;
    for (let at = 0; at < last; at += piece) this.#terminal.write(bytes.subarray(at, at + piece));
    this.#terminal.write(bytes.subarray(last), drawn);
  }

  /** Reports the size that fits the panel once it is stable: each change is an event in the log. */
  #fitSoon(): void {
    clearTimeout(this.#fitting);
    this.#fitting = setTimeout(() => {
      if (document.querySelector('[data-separator=active]')) return this.#fitSoon();
      const element = this.#terminal.element?.parentElement;
      const fitting = this.#fit.proposeDimensions();
      // The size of a collapsed panel is ignored.
      if (!element?.checkVisibility({ visibilityProperty: true }) || !fitting) return;
      if (fitting.cols > 1 && fitting.rows > 1)
        this.#options.onFit({
          columns: fitting.cols,
          rows: fitting.rows,
          width: element.clientWidth,
        });
    }, settledDelayMs);
  }

  /** Links to the files named in a row, counted from 1. */
  #filesIn(row: number): ILink[] {
    const line = this.#terminal.buffer.active.getLine(row - 1)?.translateToString(true) ?? '';
    return fileRefsIn(line).map((file) => ({
      text: file.text,
      range: {
        start: { x: file.at + 1, y: row },
        end: { x: file.at + file.text.length, y: row },
      },
      activate: () => this.#options.onFile(file),
    }));
  }

  #drawFast(): void {
    fastWebgl ??= hasFastWebgl();
    if (!fastWebgl) return;
    try {
      const webgl = new WebglAddon();
      webgl.onContextLoss(() => webgl.dispose());
      this.#terminal.loadAddon(webgl);
    } catch {
      // Without WebGL, xterm renders with the DOM, which is slower but looks the same.
    }
  }

  /** False for the keys that copy, search or switch panels, which the program does not receive. */
  #key(event: KeyboardEvent): boolean {
    if (event.type !== 'keydown') return true;
    if (event.altKey && /^Digit[1-9]$/.test(event.code)) return false;
    const mod = event.ctrlKey || event.metaKey;
    if (mod && event.key.toLowerCase() === 'f' && (event.shiftKey || !this.#typing)) {
      event.preventDefault();
      this.#options.onFind();
      return false;
    }
    const copies = mod && event.key.toLowerCase() === 'c' && this.#terminal.hasSelection();
    if (copies) void navigator.clipboard.writeText(this.#terminal.getSelection());
    return !copies;
  }
}

/** Cached for all terminals of the page, since creating a context to find out is slow. */
let fastWebgl: boolean | undefined;

/** Whether WebGL uses the GPU: with software rendering, it is slower than the DOM. */
function hasFastWebgl(): boolean {
  const gl = document
    .createElement('canvas')
    .getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const renderer = String(gl?.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER) ?? '');
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return gl !== null && !/swiftshader|llvmpipe|software/i.test(renderer);
}

/** The notice above output whose first `left` bytes are not shown. */
const noticeOf = (left: number): string =>
  `\x1b[2m[${bytesText(left)} of earlier output: save the recording to get it]\x1b[0m\r\n`;

const darkTheme: ITheme = {
  selectionBackground: '#f5b83d55',
  black: '#43474e',
  red: '#ff7b72',
  green: '#56c271',
  yellow: '#e3b341',
  blue: '#74b3ff',
  magenta: '#d2a8ff',
  cyan: '#56d4dd',
  white: '#c9ced4',
  brightBlack: '#8d939b',
};

const lightTheme: ITheme = {
  selectionBackground: '#f5b83d66',
  black: '#1b1d1f',
  red: '#b3261e',
  green: '#1a6f33',
  yellow: '#7a5700',
  blue: '#0b5cad',
  magenta: '#7b3fb0',
  cyan: '#0f6a73',
  white: '#686c71',
  brightBlack: '#54585d',
};
