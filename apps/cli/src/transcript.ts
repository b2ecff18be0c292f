import {
  actionNamed,
  approvalModes,
  visibleText,
  calledOperation,
  callOf,
  errorShape,
  eventArgs,
  isEnded,
  isStarted,
  mcpToolNamed,
  toolNamed,
  mountWords,
  outputOf,
  readableOutput,
  elapsedText,
  type CallOf,
  type Event,
  type EventOf,
  type EventAction,
} from '@belay/protocol';
import { headLines, singleLine, tailLines, type LineOutput } from './output.js';
import { planLines } from './plan-lines.js';

const outputLines = 8;
const codeLines = 6;
const taskLines = 12;
/** Marks a user’s actions, because the agent's calls have the same form. */
const byHand = 'by hand';

type Shown = { [A in EventAction]: (event: Event & EventOf<A>) => string[] };

/** A session’s log as text for a terminal: messages, calls, and the end of each output. */
export class Transcript {
  /** Files that the agent changed, in the order of their first change. */
  readonly changed = new Set<string>();
  /** New commits of the workspace’s own repository, 20 at most. */
  ownCommits = 0;
  #plan = '';
  /** The agent’s last text. */
  #said = '';

  readonly #output: LineOutput;
  readonly #asks: boolean;

  /** `asks`: questions are asked at the terminal, so they are not printed here. */
  constructor(output: LineOutput, asks = false) {
    this.#output = output;
    this.#asks = asks;
  }

  see(event: Event): void {
    for (const line of this.#lines(event)) this.#output.line(line);
  }

  #lines(event: Event): string[] {
    if (Object.hasOwn(eventArgs, event.action))
      return this.#shown[event.action as EventAction](event as never);
    return this.#call(event);
  }

  /** A call of an operation, when it starts. */
  #call(event: Event): string[] {
    const { action, message } = event;
    const run = callOf(event, 'terminal.run');
    if (run) return this.#command(event.source, run.args);
    const thought = callOf(event, 'think');
    if (thought) return this.#dim(thought.args.thought);
    const ask = callOf(event, 'ask');
    if (ask) return this.#asks ? [] : this.#marked('yellow', '?', ask.args.question);
    const display = calledOperation(action)?.display;
    if (display === 'event' || display === 'ending') return [];
    const { style, width } = this.#output;
    const subject = message.startsWith(`${action} `) ? message.slice(action.length + 1) : '';
    const note = event.source === 'user' ? byHand : '';
    const space = width - action.length - 3 - (note ? note.length + 2 : 0);
    const called = `${style('cyan', '●')} ${style('bold', action)} ${singleLine(subject, space)}`;
    return [called.trimEnd() + (note && style('dim', `  ${note}`))];
  }

  #command(
    source: Event['source'],
    { command, terminal, background }: CallOf<'terminal.run'>['args'],
  ): string[] {
    const { style, width } = this.#output;
    const [first = '', ...rest] = headLines(command, codeLines, width - 4);
    const where = [
      source === 'user' && byHand,
      terminal !== 'main' && `in ${terminal}`,
      background && 'in the background',
    ];
    const note = where.filter(Boolean).join(', ');
    return [
      `${style('cyan', '$')} ${style('bold', first)}${note && style('dim', `  ${visibleText(note)}`)}`,
      ...rest.map((line) => style('bold', `  ${line}`)),
    ];
  }

  #result({
    args: { operation, ok, output, seconds },
    message,
  }: Event & EventOf<'result'>): string[] {
    const { style } = this.#output;
    if (!ok) {
      const error = errorShape.safeParse(output).data;
      if (error?.code === 'rejected') return []; // The event `reject` has been printed.
      const why = error?.message ?? message;
      return [`  ${style('red', '✗')} ${singleLine(why, this.#output.width - 4)}`];
    }
    const ran = outputOf('terminal.run', { operation, ok, output });
    if (!ran) return this.#printed({ operation, ok, output });
    const { status, exitCode, text } = ran;
    const end = {
      exited: exitText(exitCode, style),
      running: '… still running',
      background: '… still running',
      timeout: style('red', '✗ timed out'),
      interrupted: style('red', '✗ interrupted'),
    }[status];
    const took = status === 'background' ? '' : style('dim', ` ${elapsedText(seconds)}`);
    return [
      ...this.#quoted(tailLines(text, outputLines, this.#output.width - 4)),
      `  ${end}${took}`,
    ];
  }

  /** The end of what an action or a tool printed. */
  #printed(outcome: Pick<EventOf<'result'>['args'], 'operation' | 'ok' | 'output'>): string[] {
    const { operation } = outcome;
    const tool = mcpToolNamed(operation) ?? toolNamed(operation);
    if (actionNamed(operation) === undefined && !tool) return [];
    const text = isStarted(outcome) ? '' : readableOutput(outcome);
    return text ? this.#quoted(tailLines(text, outputLines, this.#output.width - 4)) : [];
  }

  #code({ args: { path, line, content, removed, truncated } }: Event & EventOf<'code'>): string[] {
    const { style, width } = this.#output;
    const counts = truncated
      ? 'a large change'
      : `${style('green', `+${content.length}`)} ${style('red', `−${removed}`)}`;
    const added = headLines(content.join('\n'), codeLines, width - 6);
    return [
      `  ${visibleText(path)}${line > 0 ? `:${line}` : ''}  ${counts}`,
      ...(truncated ? [] : added.map((text) => `  ${style('green', `+ ${text}`)}`)),
    ];
  }

  #start({ args }: Event & EventOf<'start'>): string[] {
    const { style, width } = this.#output;
    const [first = '', ...rest] = headLines(args.task, taskLines, Math.max(width, 400));
    const { does } = approvalModes[args.approvals];
    const { agent } = args;
    const who = agent ? [`${agent.name} ${agent.version}`.trimEnd()] : [];
    const settings = [...who, args.model, does, `network: ${args.egress.profile}`];
    return [
      `${style('cyan', '▶')} ${style('bold', first)}`,
      ...rest.map((line) => style('bold', `  ${line}`)),
      style('dim', `  ${visibleText(settings.join(' · '))}`),
      ...args.mounts.map((mount) =>
        style(mount.readOnly ? 'dim' : 'yellow', `  ${visibleText(mountWords(mount))}`),
      ),
    ];
  }

  #state({ args: { state, reason } }: Event & EventOf<'state'>): string[] {
    const { style } = this.#output;
    if (state === 'waiting') return []; // The question has been printed.
    if (!isEnded(state)) return reason ? this.#dim(reason) : [];
    const mark = state === 'finished' ? style('green', '■') : style('red', '■');
    // A reply that ended the work was printed already.
    const isNew = reason && !this.#said.startsWith(reason.replace(/…$/, ''));
    return ['', `${mark} ${style('bold', state)}`, ...(isNew ? [this.#prose(reason)] : [])];
  }

  #check({ args: { state, output }, message }: Event & EventOf<'check'>): string[] {
    if (state === 'running') return this.#dim(message);
    return [
      ...this.#quoted(tailLines(output, outputLines, this.#output.width - 4)),
      ...this.#dim(message),
    ];
  }

  #planned({ args: { markdown } }: Event & EventOf<'plan'>): string[] {
    const lines = planLines(markdown, this.#plan, this.#output);
    this.#plan = markdown;
    return lines;
  }

  /** A model’s text is Markdown: bold words and code are styled. */
  #prose(text: string): string {
    const { style } = this.#output;
    return visibleText(text.trim())
      .replace(/\*\*(\S(?:.{0,500}?\S)?)\*\*/g, (whole, inner: string) =>
        styled(style('bold', inner), inner, whole),
      )
      .replace(/`([^`\n]{1,500})`/g, (whole, inner: string) =>
        styled(style('cyan', inner), inner, whole),
      );
  }

  #quoted(lines: string[]): string[] {
    return lines.map((line) => this.#output.style('dim', `  │ ${line}`));
  }

  #dim(text: string): string[] {
    return [this.#output.style('dim', `· ${singleLine(text, this.#output.width - 2)}`)];
  }

  #marked(style: 'yellow' | 'red' | 'cyan', mark: string, text: string): string[] {
    return [this.#output.style(style, `${mark} ${visibleText(text)}`)];
  }

  readonly #shown: Shown = {
    start: (event) => (event.args.again ? [] : this.#start(event)),
    message: ({ args }) => ['', ...this.#marked('cyan', '»', args.text)],
    edit: ({ args }) => this.#marked('cyan', '»', `${args.text} (edited)`),
    withdraw: ({ message }) => this.#dim(message),
    deliver: () => [],
    say: ({ args }) => {
      this.#said = args.text;
      return args.text.trim() ? ['', this.#prose(args.text)] : [];
    },
    result: (event) => this.#result(event),
    'background-result': ({ args, message }) =>
      args.ok ? [...this.#dim(message), ...this.#printed(args)] : this.#marked('red', '✗', message),
    plan: (event) => this.#planned(event),
    code: (event) => this.#code(event),
    browser: ({ message }) => this.#quoted([singleLine(message, this.#output.width - 4)]),
    commit: ({ args, message }) => {
      for (const { path } of args.files) this.changed.add(path);
      if (!args.commits) return [];
      this.ownCommits = args.commits.length;
      return this.#dim(message);
    },
    approval: ({ args, message }) =>
      this.#asks && args.mode === 'ask' ? [] : this.#marked('yellow', '⚠', message),
    approve: ({ source, message }) => (source === 'user' ? this.#dim(message) : []),
    reject: ({ message }) => this.#marked('red', '✗', message),
    egress: ({ args, message }) => (args.verdict === 'allowed' ? [] : this.#dim(message)),
    end: () => [],
    renewed: ({ message }) => this.#dim(message),
    turn: () => [],
    attention: ({ args, message }) =>
      args.why === null ? [] : this.#marked('yellow', '⚠', message),
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
    unreadable: ({ message }) => this.#marked('red', '✗', message),
    breach: ({ message }) => this.#dim(message),
    mcp: ({ message }) => this.#dim(message),
    fork: ({ message }) => this.#dim(message),
    placed: ({ message }) => this.#dim(message),
    restored: ({ message }) => this.#marked('yellow', '⚠', message),
    imported: ({ message }) => this.#dim(message),
    pushing: () => [],
    publish: ({ message }) => this.#dim(message),
    check: (event) => this.#check(event),
    guidance: ({ message }) => this.#dim(message),
    exit: ({ message }) => this.#dim(message),
    terminal: () => [],
    replaced: () => [],
    request: () => [],
    usage: () => [],
  };
}

/** Without colors, the Markdown stays unchanged. */
const styled = (text: string, inner: string, whole: string): string =>
  text === inner ? whole : text;

/** Programs of other vendors do not always tell the exit code. */
function exitText(exitCode: number | null, style: LineOutput['style']): string {
  if (exitCode === null) return style('dim', 'ended');
  return exitCode === 0 ? style('green', '✓') : style('red', `✗ exit code ${exitCode}`);
}
