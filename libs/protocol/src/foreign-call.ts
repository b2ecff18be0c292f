import { operations, type OperationName } from './operations/index.js';
import { isFields } from './is-fields.js';
import type { Operation } from './operation.js';
import { comparableName } from './comparable-name.js';
import { shellLine } from './shell-line.js';
import { shellWord } from './shell-quoted.js';

type Fields = Readonly<Record<string, unknown>>;

/** A call of another harness’s tool in the terms of an operation. */
export interface ForeignCall {
  operation: OperationName;
  input: unknown;
}

/**
 * The call that a model means by the name of a tool that it was trained on, with that tool’s fields; a sentence if
 * there is nothing of the kind. Undefined for an unknown name.
 */
export function foreignCall(name: string, input: unknown): ForeignCall | string | undefined {
  // Some models put such a prefix before a tool's name. Other prefixes are those of servers and installed actions.
  const own = comparableName(name.replace(/^(?:functions|default_api|tools)[./:]/, ''));
  const translate = Object.hasOwn(tools, own) ? tools[own] : undefined;
  if (typeof translate === 'string') return translate;
  if (translate) return translate(isFields(input) ? input : {});
  const [same, ...others] = Object.values<Operation>(operations).filter(({ knownAs }) =>
    knownAs.split(' ').includes(own),
  );
  if (!same || others.length > 0 || !isOperationName(same.name)) return undefined;
  return { operation: same.name, input };
}

type Translation = (input: Fields) => ForeignCall | string;

/** Fields by other names; those that are not listed stay as they are. */
const as =
  (operation: OperationName, names: Readonly<Record<string, string>> = {}): Translation =>
  (input) => ({ operation, input: renamed(input, names) });

/** Seconds, as in the definition of the operation. */
const longestWait = 3_600;

/** A shell command whose limit is in milliseconds, until which its tool waits for the end. */
const shell =
  (names: Readonly<Record<string, string>>): Translation =>
  (given) => {
    const { command, workdir, timeout, ...input } = renamed(given, names);
    const folder =
      typeof workdir === 'string' && workdir !== '' ? `cd ${shellWord(workdir)} && ` : '';
    const limit = Number(timeout) / 1000;
    if (Array.isArray(command) && command[0] === 'apply_patch')
      return { operation: 'files.patch', input: { patch: command[1] } };
    return {
      operation: 'terminal.run',
      input: {
        ...input,
        ...(limit > 0 && { timeout: limit, wait: Math.min(limit, longestWait) }),
        command: folder + shellLine(command),
      },
    };
  };

/** Anthropic’s text editor, whose `command` says what to do. */
function textEditor({ command, ...input }: Fields): ForeignCall | string {
  if (command === 'view') {
    const [from, to] = Array.isArray(input['view_range']) ? input['view_range'] : [];
    const { view_range: _, ...more } = input;
    const lines = typeof from === 'number' ? { from, ...(to > 0 && { to }) } : {};
    return { operation: 'files.read', input: { ...more, ...lines } };
  }
  if (command === 'create') return { operation: 'files.write', input };
  if (command === 'str_replace')
    return { operation: 'files.replace-text', input: { new_str: '', ...input } };
  if (command === 'insert') {
    const { insert_line: line, new_str: text, insert_text: inserted = text, ...more } = input;
    const content = typeof inserted === 'string' ? inserted.replace(/\n$/, '').split('\n') : [];
    const from = typeof line === 'number' ? line + 1 : line;
    return { operation: 'files.edit', input: { ...more, change: 'INSERT', from, content } };
  }
  return `There is no command ${JSON.stringify(command)}: use files.read, files.write, files.replace-text or files.edit.`;
}

function multiEdit({ edits, ...input }: Fields): ForeignCall | string {
  const [edit, ...others] = Array.isArray(edits) ? edits : [];
  if (!isFields(edit) || others.length > 0)
    return 'There is no operation for several edits at once: call files.replace-text for each, all in one reply if you like.';
  return { operation: 'files.replace-text', input: { ...input, ...edit } };
}

/** A list of steps as the plan’s Markdown. */
const steps =
  (list: string, text: string): Translation =>
  (input) => {
    const items: unknown[] = Array.isArray(input[list]) ? input[list] : [];
    const lines = items.filter(isFields).map((item) => {
      const box = item['status'] === 'completed' ? 'x' : ' ';
      const step = item[text];
      return `- [${box}] ${typeof step === 'string' ? step : ''}`;
    });
    return { operation: 'plan.update', input: { markdown: lines.join('\n') } };
  };

const noAgents = 'There is no operation for other agents: do the work yourself.';

/** Tools of other harnesses whose fields mean something else here, by their names in lowercase letters and digits. */
const tools: Readonly<Record<string, Translation | string>> = {
  bash: shell({ run_in_background: 'background' }),
  shell: shell({ timeout_ms: 'timeout' }),
  localshell: shell({ timeout_ms: 'timeout' }),
  containerexec: shell({ cmd: 'command', timeout_ms: 'timeout' }),
  execcommand: ({ yield_time_ms: ms, ...input }) => {
    const wait = typeof ms === 'number' && ms > 0 ? { wait: ms / 1000 } : {};
    const call = shell({ cmd: 'command' })(input);
    return typeof call === 'string' || !isFields(call.input)
      ? call
      : { ...call, input: { ...call.input, ...wait } };
  },
  glob: as('files.search', { pattern: 'name' }),
  strreplacebasededittool: textEditor,
  strreplaceeditor: textEditor,
  texteditor: textEditor,
  multiedit: multiEdit,
  todowrite: steps('todos', 'content'),
  writetodos: steps('todos', 'content'),
  updateplan: steps('plan', 'step'),
  websearch: as('web.search'),
  python: 'There is no operation for Python code: run it with terminal.run.',
  powershell: 'There is no PowerShell: use a shell command with terminal.run.',
  exitplanmode:
    'There is no operation for that. In the approval mode plan, ask with `ask` for the approval of the plan; otherwise go on with the work.',
  task: noAgents,
  agent: noAgents,
  spawnagent: noAgents,
};

function renamed(input: Fields, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [names[name] ?? name, value]),
  );
}

const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name);
