import { emitKeypressEvents, type Key } from 'node:readline';
import type { BelayClient, LiveConnection } from '@belay/client';
import {
  AppError,
  errorFrom,
  ignoreError,
  isEnded,
  isEvent,
  type Event,
  type SessionSummary,
} from '@belay/protocol';
import { outputTo, singleLine } from '../output.js';
import { readAnswer } from '../terminal-user.js';
import { Transcript } from '../transcript.js';
import { OpenQuestion } from './open-question.js';
import { Composer } from './composer.js';
import { ScreenWriter } from './screen-writer.js';
import { help, hint } from './help.js';
import { runBinding, type KeyBindings } from './key-bindings.js';
import { layoutOf, type Layout } from './layout.js';
import { Pane } from './pane.js';
import { cut, questionRows, styled } from './question-rows.js';
import { titleLine } from './title-line.js';

export interface SessionScreenOptions {
  summary: SessionSummary;
  client: BelayClient;
  live: LiveConnection;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

const drawMs = 40;
const maxTerminals = 16;
const leaveTerminal = '\u001d';

/** One session on the whole terminal: chat, questions and terminal. Resolves when the user leaves. */
export class SessionScreen {
  readonly #options: SessionScreenOptions;
  readonly #writer: ScreenWriter;
  readonly #asked = new OpenQuestion();
  readonly #composer = new Composer();
  readonly #left = Promise.withResolvers<void>();
  readonly #terminals = new Map<string, Pane>();
  readonly #chat: Pane;
  #summary: SessionSummary;
  #shown = 'main';
  #focus: 'chat' | 'terminal' = 'chat';
  #isHelp = false;
  #note = '';
  #delta = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SessionScreenOptions) {
    this.#options = options;
    this.#summary = options.summary;
    this.#writer = new ScreenWriter((text) => void options.output.write(text));
    const { chat } = this.#layout();
    this.#chat = new Pane(chat.columns, chat.rows);
    this.#asked.see(options.summary);
  }

  async show(): Promise<SessionSummary> {
    const { input, output, live } = this.#options;
    const { id } = this.#summary;
    const closers = [this.#watch(), this.#watchSummary(), this.#watchConnection()];
    const resize = () => this.#resize();
    const data = (bytes: Buffer) => this.#typed(bytes.toString());
    const key = (sign: string | undefined, pressed: Key) => this.#press(sign, pressed);
    const end = () => this.#left.resolve();
    const restore = () => this.#writer.leave();
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('data', data).on('keypress', key).on('end', end).resume();
    output.on('resize', resize);
    process.on('exit', restore).on('SIGTERM', end).on('SIGHUP', end);
    this.#writer.enter();
    this.#fit();
    this.#draw();
    try {
      await this.#left.promise;
    } finally {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      await this.#release().catch(ignoreError('the agent gets its terminal back at the end'));
      for (const close of closers) close();
      input.off('data', data).off('keypress', key).off('end', end).pause();
      input.setRawMode(false);
      output.off('resize', resize);
      process.off('exit', restore).off('SIGTERM', end).off('SIGHUP', end);
      restore();
      await live
        .request('terminal.fit', { session: id, terminal: this.#shown, size: null })
        .catch(ignoreError('it only shows less'));
    }
    return this.#summary;
  }

  #watch(): () => void {
    const { live } = this.#options;
    const { width: _, ...plain } = outputTo(this.#options.output);
    const columns = () => this.#layout().chat.columns;
    const transcript = new Transcript(
      {
        ...plain,
        get width() {
          return columns();
        },
        line: (text) => {
          const written = this.#chat.write(`${text.replaceAll('\n', '\r\n')}\r\n`);
          void written.then(() => this.#later());
        },
      },
      false,
    );
    const see = (event: Event) => {
      if (event.action === 'say') this.#delta = '';
      transcript.see(event);
      if (isEvent(event, 'terminal')) this.#opened(event.args);
    };
    const watch = live.watch(this.#summary.id, {
      events: (events) => {
        events.forEach(see);
        this.#later();
      },
      delta: (kind, text) => {
        if (kind === 'text') this.#delta = (this.#delta + text).slice(-2_000);
        this.#later();
      },
      terminal: async ({ terminal, bytes }) => {
        await this.#terminal(terminal)?.write(bytes);
        this.#later();
      },
      refused: (error) => this.#left.reject(error),
    });
    return () => watch.close();
  }

  #watchSummary(): () => void {
    const watch = this.#options.live.fleet((id, summary) => {
      if (id !== this.#summary.id) return;
      if (!summary) return this.#left.reject(new AppError('not_found', 'The session was deleted.'));
      this.#summary = summary;
      this.#asked.see(summary);
      this.#later();
    });
    return () => watch.close();
  }

  #watchConnection(): () => void {
    return this.#options.live.onState((state) => {
      if (state === 'refused')
        this.#left.reject(new AppError('unauthorized', 'The server rejected the token.'));
      this.#tell(state === 'reconnecting' ? 'The server does not respond. Waiting for it…' : '');
    });
  }

  #terminal(name: string): Pane | undefined {
    const known = this.#terminals.get(name);
    if (known || this.#terminals.size >= maxTerminals) return known;
    const { terminal } = this.#layout();
    const made = new Pane(terminal.columns, terminal.rows);
    this.#terminals.set(name, made);
    return made;
  }

  #opened({ terminal, columns, rows }: { terminal: string; columns: number; rows: number }): void {
    // Larger sizes than any screen are limited.
    this.#terminal(terminal)?.resize(Math.min(columns, 500), Math.min(rows, 200));
  }

  /** Sends typed keys to the terminal unchanged. */
  #typed(data: string): void {
    if (this.#focus !== 'terminal') return;
    if (data.includes(leaveTerminal))
      return void this.#release().catch(ignoreError('it only shows less'));
    const keys = { session: this.#summary.id, terminal: this.#shown, data };
    this.#do(() => this.#options.live.request('terminal.keys', keys));
  }

  #press(sign: string | undefined, key: Key): void {
    if (this.#focus === 'terminal') return;
    this.#note = '';
    const answers = this.#asked.request && !this.#composer.text && /^[yan]$/i.test(sign ?? '');
    if (answers) this.#answer(sign ?? '');
    else if (!runBinding(this.#bindings, key)) this.#composer.press(sign, key);
    this.#later();
  }

  readonly #bindings: KeyBindings = {
    'ctrl+c': () => this.#left.resolve(),
    'ctrl+d': () => this.#composer.text || this.#left.resolve(),
    'ctrl+l': () => this.#writer.forget(),
    'ctrl+n': () => this.#asked.request && this.#answer(this.#composer.take() || 'n'),
    f1: () => (this.#isHelp = !this.#isHelp),
    f2: () => this.#nextTerminal(),
    f3: () => this.#pauseOrResume(),
    tab: () => this.#hold(),
    pageup: () => this.#scroll(1),
    pagedown: () => this.#scroll(-1),
    return: () => this.#send(),
    enter: () => this.#send(),
  };

  #scroll(pages: number): void {
    this.#chat.scroll(pages * Math.max(1, this.#layout().chat.rows - 2));
  }

  #answer(reply: string): void {
    const { request } = this.#asked;
    const answer = request && readAnswer(reply, request);
    if (!request || !answer) return;
    if (!this.#asked.mayAnswer) return this.#tell('This has just appeared: read it, then answer.');
    this.#do(() => this.#options.client.sessions.answer(this.#summary.id, request.id, answer));
  }

  #send(): void {
    if (this.#asked.question !== null && !this.#asked.mayAnswer)
      return this.#tell('This question has just appeared: read it, then answer.');
    const text = this.#composer.take();
    if (text) this.#do(() => this.#options.client.sessions.message(this.#summary.id, { text }));
  }

  #pauseOrResume(): void {
    const { sessions } = this.#options.client;
    const { id, state } = this.#summary;
    this.#do(() => (state === 'paused' ? sessions.resume(id) : sessions.pause(id)));
  }

  #nextTerminal(): void {
    const names = [...this.#terminals.keys()];
    this.#shown = names[(names.indexOf(this.#shown) + 1) % names.length] ?? 'main';
    this.#fit();
  }

  #hold(): void {
    this.#do(async () => {
      const { live } = this.#options;
      const of = { session: this.#summary.id, terminal: this.#shown };
      await live.request('terminal.hold', { ...of, holder: 'user' });
      this.#focus = 'terminal';
      this.#later();
    });
  }

  async #release(): Promise<void> {
    if (this.#focus !== 'terminal') return;
    this.#focus = 'chat';
    this.#later();
    const of = { session: this.#summary.id, terminal: this.#shown };
    await this.#options.live.request('terminal.hold', { ...of, holder: 'agent' });
  }

  #do(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => this.#tell(errorFrom(error).message));
  }

  #tell(note: string): void {
    this.#note = note;
    this.#later();
  }

  #resize(): void {
    const { chat } = this.#layout();
    this.#chat.resize(chat.columns, chat.rows);
    this.#writer.forget();
    this.#fit();
    this.#later();
  }

  /** A terminal’s size is the smallest among its viewers. */
  #fit(): void {
    const { columns, rows } = this.#layout().terminal;
    const size = { columns: Math.max(2, columns), rows: Math.max(1, rows) };
    const request = { session: this.#summary.id, terminal: this.#shown, size };
    if (isEnded(this.#summary.state)) return;
    this.#options.live.request('terminal.fit', request).catch(ignoreError('it only shows less'));
  }

  #layout(): Layout {
    const { columns, rows } = this.#options.output;
    return layoutOf(columns, rows);
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
    }, drawMs);
  }

  #draw(): void {
    const { columns } = this.#options.output;
    const { wide, chat, terminal } = this.#layout();
    const chatRows = this.#isHelp ? this.#helpRows() : this.#chatRows();
    const pane = this.#terminals.get(this.#shown);
    const label = ` ${this.#shown}${this.#focus === 'terminal' ? ' · you type here · Ctrl-] returns' : ''}`;
    const screen = [
      styled(2, cut(label, terminal.columns)),
      ...(pane?.rows(terminal.columns, terminal.rows) ??
        Array.from({ length: terminal.rows }, () => ' '.repeat(terminal.columns))),
    ];
    const body = wide
      ? chatRows.map((row, index) => `${row}\u001b[2m│\u001b[0m${screen[index] ?? ''}`)
      : [...chatRows, ...screen];
    const composed = this.#composer.shown(Math.max(1, columns - 3));
    const rows = [
      styled(7, cut(titleLine(this.#summary), columns)),
      ...body,
      styled(
        2,
        cut(this.#note || singleLine(this.#delta.slice(-columns), columns) || hint, columns),
      ),
      cut(`> ${composed.text}`, columns),
    ];
    const inTerminal = this.#focus === 'terminal' && pane;
    const cursor = inTerminal
      ? {
          row: wide ? 2 + pane.cursor.row : 2 + chat.rows + pane.cursor.row,
          column: (wide ? chat.columns + 1 : 0) + pane.cursor.column,
        }
      : { row: rows.length - 1, column: 2 + composed.column };
    this.#writer.draw(rows, cursor);
  }

  #chatRows(): string[] {
    const { columns, rows } = this.#layout().chat;
    const question = questionRows(this.#asked, columns, Math.max(4, Math.floor(rows * 0.7)));
    const above = rows - question.length;
    const lines = this.#chat.rows(columns, rows);
    // The newest lines stay visible, above the question.
    const used = this.#chat.isScrolled ? rows : Math.max(above, this.#chat.cursor.row);
    return [...lines.slice(used - above, used), ...question].slice(-rows);
  }

  #helpRows(): string[] {
    const { columns, rows } = this.#layout().chat;
    const lines = help.split('\n');
    return Array.from({ length: rows }, (_, index) => cut(lines[index] ?? '', columns));
  }
}
