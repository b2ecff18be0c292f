import {
  eventArgs,
  isEnded,
  operations,
  type Event,
  type Fact,
  type FactAction,
} from '@belay/protocol';
import { firstLines, lastLines, oneLine, visible, type Output } from './output.js';
import { planLines } from './plan-lines.js';

const outputLines = 8;
const codeLines = 6;
const taskLines = 12;

type Shown = { [A in FactAction]: (event: Event & Fact<A>) => string[] };

/** A session's log as a person reads it in a terminal: what is said and done, with the end of each output. */
export class Transcript {
  /** Files that the agent changed, the first time first. */
  readonly changed = new Set<string>();
  #plan = '';

  /** `asks`: whoever prints it also puts the questions to a person. */
  constructor(
    private readonly output: Output,
    private readonly asks = false,
  ) {}

  see(event: Event): void {
    for (const line of this.#lines(event)) this.output.line(line);
  }

  #lines(event: Event): string[] {
    if (Object.hasOwn(eventArgs, event.action))
      return this.#shown[event.action as FactAction](event as never);
    return this.#call(event);
  }

  /** A call of an operation, when it begins. */
  #call({ action, args, message }: Event): string[] {
    const { style, width } = this.output;
    if (action === 'terminal.run') {
      const { command = '', terminal = 'main', background } = args as Record<string, string>;
      const [first = '', ...rest] = firstLines(command, codeLines, width - 4);
      const where = [terminal !== 'main' && `in ${terminal}`, background && 'in the background'];
      const note = where.filter(Boolean).join(', ');
      return [
        `${style('cyan', '$')} ${style('bold', first)}${note && style('dim', `  ${visible(note)}`)}`,
        ...rest.map((line) => style('bold', `  ${line}`)),
      ];
    }
    if (action === 'think') return this.#dim(String(args.thought));
    if (action === 'ask')
      return this.asks ? [] : this.#marked('yellow', '?', String(args.question));
    if (action === 'plan.update' || action === 'finish') return [];
    const subject = message.startsWith(`${action} `) ? message.slice(action.length + 1) : '';
    const room = width - action.length - 3;
    return [`${style('cyan', '●')} ${style('bold', action)} ${oneLine(subject, room)}`.trimEnd()];
  }

  #result({ args: { operation, ok, output, seconds }, message }: Event & Fact<'result'>): string[] {
    const { style } = this.output;
    if (!ok) {
      const { code, message: why = message } = output as { code?: string; message?: string };
      if (code === 'rejected') return []; // it has been said by whom and why
      return [`  ${style('red', '✗')} ${oneLine(why, this.output.width - 4)}`];
    }
    const ran = operations['terminal.run'].output.safeParse(output);
    if (operation !== 'terminal.run' || !ran.success) return [];
    const { status, exitCode, text } = ran.data;
    const end = {
      exited: exitCode === 0 ? style('green', '✓') : style('red', `✗ exit code ${exitCode}`),
      running: '… goes on',
      background: '… goes on',
      timeout: style('red', '✗ timed out'),
      interrupted: style('red', '✗ interrupted'),
    }[status];
    const took = status === 'background' ? '' : style('dim', ` ${seconds.toFixed(1)} s`);
    return [
      ...this.#quoted(lastLines(text, outputLines, this.output.width - 4)),
      `  ${end}${took}`,
    ];
  }

  #code({ args: { path, line, content, removed, truncated } }: Event & Fact<'code'>): string[] {
    const { style, width } = this.output;
    const counts = truncated
      ? 'a large change'
      : `${style('green', `+${content.length}`)} ${style('red', `−${removed}`)}`;
    const added = firstLines(content.join('\n'), codeLines, width - 6);
    return [
      `  ${visible(path)}${line > 0 ? `:${line}` : ''}  ${counts}`,
      ...(truncated ? [] : added.map((text) => `  ${style('green', `+ ${text}`)}`)),
    ];
  }

  #start({ args }: Event & Fact<'start'>): string[] {
    const { style, width } = this.output;
    const [first = '', ...rest] = firstLines(args.task, taskLines, Math.max(width, 400));
    const asks = { ask: 'asks first', delay: 'waits 2 s first', auto: 'never asks' };
    const facts = [args.model, asks[args.approvals], `network: ${args.egress.profile}`];
    return [
      `${style('cyan', '▶')} ${style('bold', first)}`,
      ...rest.map((line) => style('bold', `  ${line}`)),
      style('dim', `  ${visible(facts.join(' · '))}`),
    ];
  }

  #state({ args: { state, reason } }: Event & Fact<'state'>): string[] {
    const { style } = this.output;
    if (state === 'waiting') return []; // for what has been said
    if (!isEnded(state)) return reason ? this.#dim(reason) : [];
    const mark = state === 'finished' ? style('green', '■') : style('red', '■');
    return ['', `${mark} ${style('bold', state)}`, ...(reason ? [this.#prose(reason)] : [])];
  }

  #planned({ args: { markdown } }: Event & Fact<'plan'>): string[] {
    const lines = planLines(markdown, this.#plan, this.output);
    this.#plan = markdown;
    return lines;
  }

  /** What a model writes is Markdown; in colours its bold words and code stand out. */
  #prose(text: string): string {
    const { style } = this.output;
    return visible(text.trim())
      .replace(/\*\*(\S(?:.*?\S)?)\*\*/g, (whole, inner: string) =>
        styled(style('bold', inner), inner, whole),
      )
      .replace(/`([^`\n]+)`/g, (whole, inner: string) =>
        styled(style('cyan', inner), inner, whole),
      );
  }

  #quoted(lines: string[]): string[] {
    return lines.map((line) => this.output.style('dim', `  │ ${line}`));
  }

  #dim(text: string): string[] {
    return [this.output.style('dim', `· ${oneLine(text, this.output.width - 2)}`)];
  }

  #marked(style: 'yellow' | 'red' | 'cyan', mark: string, text: string): string[] {
    return [this.output.style(style, `${mark} ${visible(text)}`)];
  }

  readonly #shown: Shown = {
    start: (event) => (event.args.again ? [] : this.#start(event)),
    message: ({ args }) => ['', ...this.#marked('cyan', '»', args.text)],
    say: ({ args }) => (args.text.trim() ? ['', this.#prose(args.text)] : []),
    result: (event) => this.#result(event),
    plan: (event) => this.#planned(event),
    code: (event) => this.#code(event),
    browser: ({ message }) => this.#quoted([oneLine(message, this.output.width - 4)]),
    commit: ({ args }) => {
      for (const { path } of args.files) this.changed.add(path);
      return [];
    },
    approval: ({ args, message }) =>
      this.asks && args.mode === 'ask' ? [] : this.#marked('yellow', '⚠', message),
    approve: ({ source, message }) => (source === 'user' ? this.#dim(message) : []),
    reject: ({ message }) => this.#marked('red', '✗', message),
    egress: ({ args, message }) => (args.verdict === 'allowed' ? [] : this.#dim(message)),
    error: ({ message }) => this.#marked('red', '✗', message),
    limit: ({ message }) => this.#marked('red', '✗', message),
    state: (event) => this.#state(event),
    pause: ({ message }) => this.#dim(message),
    resume: ({ message }) => this.#dim(message),
    stop: () => [],
    change: ({ message }) => this.#dim(message),
    compact: ({ message }) => this.#dim(message),
    restore: ({ message }) => this.#dim(message),
    rewind: ({ message }) => this.#dim(message),
    retry: ({ message }) => this.#dim(message),
    stalled: ({ message }) => this.#dim(message),
    mcp: ({ message }) => this.#dim(message),
    fork: ({ message }) => this.#dim(message),
    guidance: () => [],
    terminal: () => [],
    usage: () => [],
  };
}

/** Without colours the signs of Markdown stay. */
const styled = (text: string, inner: string, whole: string): string =>
  text === inner ? whole : text;
